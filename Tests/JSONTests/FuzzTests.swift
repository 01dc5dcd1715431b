import Foundation
import JSON
import TestSupport
import Testing

@Suite struct FuzzTests {
    private static func randomValue(_ random: inout SeededGenerator, depth: Int = 0) -> JSONValue {
        func text() -> String {
            let scalars = ["a", "\"", "\\", "/", "\n", "\u{0}", "\u{1f}", "<", "é", "\u{2028}", "😀"]
            return (0..<Int.random(in: 0..<6, using: &random)).map { _ in scalars.randomElement(using: &random)! }.joined()
        }
        switch Int.random(in: 0..<(depth < 4 ? 8 : 6), using: &random) {
        case 0: return .null
        case 1: return .bool(.random(using: &random))
        case 2: return .integer(.random(in: .min ... .max, using: &random))
        case 3: return .number("\(Double.random(in: -1e9...1e9, using: &random) / 3)")
        case 4, 5: return .string(text())
        case 6: return .array((0..<Int.random(in: 0..<5, using: &random)).map { _ in randomValue(&random, depth: depth + 1) })
        default:
            let names = Set((0..<Int.random(in: 0..<5, using: &random)).map { _ in text() })
            return .object(names.sorted().map { .init($0, randomValue(&random, depth: depth + 1)) })
        }
    }

    @Test func `what is written is read back the same, and Foundation reads the same`() throws {
        var random = SeededGenerator(seed: 42)
        for _ in 0..<3_000 {
            let value = Self.randomValue(&random)
            #expect(try JSONValue(parsing: value.bytes) == value)
            #expect(try JSONValue(parsing: Array(value.prettyText.utf8)) == value)
            let canonical = try Self.canonical(value.bytes)
            #expect(try Self.canonical(JSONValue(parsing: canonical).bytes) == canonical)
        }
    }

    /// The text as Foundation writes what it reads.
    private static func canonical(_ bytes: [UInt8]) throws -> [UInt8] {
        let value = try JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)
        return [UInt8](try JSONSerialization.data(withJSONObject: value, options: [.fragmentsAllowed, .sortedKeys]))
    }

    @Test func `a damaged text that is accepted is JSON to Foundation too, and every truncation is refused`() throws {
        let whole = Array(#"{"a":[{"b":"c\u00e9\"","d":[1,2.5,true]},null,{"e":{"f":"\\"}}],"g":-1.5e3}"#.utf8)
        for count in 0..<whole.count { #expect(throws: JSONError.self) { try JSONValue(parsing: Array(whole.prefix(count))) } }
        var random = SeededGenerator(seed: 20_261_122)
        var accepted = 0
        for _ in 0..<20_000 {
            var bytes = whole
            for _ in 0...Int.random(in: 0..<3, using: &random) {
                let index = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes[index] = UInt8.random(in: 0...255, using: &random)
                case 1: bytes.remove(at: index)
                default: bytes.insert(bytes.randomElement(using: &random)!, at: index)
                }
            }
            guard let value = try? JSONValue(parsing: bytes) else { continue }
            accepted += 1
            #expect(try JSONValue(parsing: value.bytes) == value)
            let foundation = try? JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)
            #expect(foundation != nil, "\(String(decoding: bytes, as: UTF8.self))")
        }
        #expect(accepted > 100, "too few damaged texts parse: \(accepted)")
    }
}
