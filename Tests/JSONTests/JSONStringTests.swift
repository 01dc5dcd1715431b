import TestSupport
import Testing

@testable import JSON

@Suite struct JSONStringTests {
    @Test func `the end of plain text is the first byte that ends it, wherever it is`() {
        var generator = SeededGenerator(seed: 11)
        // Bytes at and beside the limits of each kind.
        let alphabet: [UInt8] = [0x00, 0x1F, 0x20, 0x21, 0x22, 0x23, 0x5B, 0x5C, 0x5D, 0x7F, 0x80, 0xA2, 0xDC, 0xFF]
        for _ in 0..<20_000 {
            var bytes = (0..<Int.random(in: 0...40, using: &generator)).map { _ in UInt8.random(in: 0x60...0x7A, using: &generator) }
            for _ in 0..<Int.random(in: 0...3, using: &generator) where !bytes.isEmpty {
                bytes[Int.random(in: 0..<bytes.count, using: &generator)] = alphabet.randomElement(using: &generator)!
            }
            let start = Int.random(in: 0...bytes.count, using: &generator)
            let end = bytes[start...].firstIndex { $0 < 0x20 || $0 == 0x22 || $0 == 0x5C } ?? bytes.count
            let found = bytes.withUnsafeBytes { JSONString.plainText(in: $0, from: start) }
            #expect(found.end == end && found.isASCII == bytes[start..<end].allSatisfy { $0 < 0x80 }, "\(bytes) from \(start)")
        }
    }
}
