import TestSupport
import Testing

@testable import RedisClient

extension GrowingBuffer {
    /// A copy of the values.
    fileprivate var array: [Element] { (0..<count).map { self[$0] } }
}

extension FrozenBuffer {
    /// A copy of the values.
    fileprivate var array: [Element] { (0..<count).map { self[$0] } }
}

@Suite struct GrowingBufferTests {
    @Test func `What is taken is what was appended, however it was cut`() {
        var generator = SeededGenerator(seed: 7)
        for _ in 0..<200 {
            var bytes = GrowingBuffer<UInt8>(capacity: Int.random(in: 0...40, using: &generator))
            var (expected, taken): ([UInt8], [UInt8]) = ([], [])
            for _ in 0..<30 {
                let piece = generator.bytes(upTo: 60)
                if piece.count.isMultiple(of: 2) {
                    piece.withUnsafeBufferPointer { bytes.append($0) }
                } else {
                    bytes.append(atMost: piece.count + 9) { room in
                        for (index, byte) in piece.enumerated() { room[index] = byte }
                        return piece.count
                    }
                }
                expected += piece
                if piece.count.isMultiple(of: 3) { taken += bytes.takeFirst(Int.random(in: 0...bytes.count, using: &generator)).array }
                #expect(taken + bytes.array == expected)
            }
        }
    }

    @Test func `What is taken keeps the memory, and its rest gets as much as it needs`() {
        var bytes = GrowingBuffer<UInt8>(capacity: 0)
        let burst = [UInt8](repeating: 7, count: 1 << 20)
        burst.withUnsafeBufferPointer { bytes.append($0) }
        [UInt8](1...9).withUnsafeBufferPointer { bytes.append($0) }
        #expect(bytes.capacity > burst.count)
        #expect(bytes.takeFirst(burst.count).array == burst)
        #expect(bytes.capacity <= 16)
        #expect(bytes.array == [UInt8](1...9))
    }

    @Test func `Values of several bytes are read and replaced where they stand, and move to the start`() {
        var numbers = GrowingBuffer<Int64>(capacity: 0)
        for number in 0..<1_000 as Range<Int64> { numbers.append(number) }
        numbers[999] = -1
        #expect(numbers.takeFirst(998).array == Array(0..<998))
        #expect(numbers.array == [998, -1])
        #expect(numbers[0] == 998)
    }

    @Test func `What is taken does not change with what is appended later`() {
        var bytes = GrowingBuffer<UInt8>(capacity: 64)
        for byte in 0..<20 as Range<UInt8> { bytes.append(byte) }
        let first = bytes.takeFirst(10)
        for _ in 0..<50 { bytes.append(99) }
        #expect(first.array == Array(0..<10))
        #expect(first.withBytes(3..<5) { Array($0) } == [3, 4])
        #expect(bytes.freeze().array == Array(10..<20) + [UInt8](repeating: 99, count: 50))
    }
}
