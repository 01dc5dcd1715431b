import Testing

@testable import FaceEngine

@Suite struct EnrolledFaceTests {
    static func direction(_ angles: [Int: Float]) -> FaceDescriptor {
        var values = [Float](repeating: 0, count: FaceDescriptor.count)
        values[0] = 1
        for (index, value) in angles { values[index] = value }
        return FaceDescriptor(normalising: values)
    }

    private var template: EnrolledFace {
        EnrolledFace(
            left: [Self.direction([1: 0.2])], right: [Self.direction([2: 0.2])], front: [Self.direction([3: 0.1])],
            isMirrored: true)
    }

    @Test func `a template is equal after encoding and decoding`() throws {
        let bytes = template.encoded()
        #expect(bytes.count == EnrolledFace.encodedByteCount)
        let decoded = try EnrolledFace(decoding: bytes)
        #expect(decoded.encoded().count == bytes.count)
        #expect(decoded.isMirrored && decoded.isComparable)
        #expect(decoded.mean.distance(to: template.mean) < 1e-5)
        for (one, other) in zip(decoded.poses, template.poses) { #expect(one.distance(to: other) < 1e-5) }
    }

    @Test func `malformed bytes are refused`() {
        var bytes = template.encoded()
        for wrong in [[], Array(bytes.dropLast()), bytes + [0], [UInt8](repeating: 0, count: bytes.count)] {
            #expect(throws: FaceEngineError.self) { try EnrolledFace(decoding: wrong) }
        }
        bytes[40] ^= 0x7F
        bytes[26] = 0x7F
        #expect(throws: FaceEngineError.self) { try EnrolledFace(decoding: bytes) }
    }

    @Test func `a template of another network cannot be compared`() throws {
        var bytes = template.encoded()
        bytes[6] = bytes[6] == 0x30 ? 0x31 : 0x30
        #expect(try !EnrolledFace(decoding: bytes).isComparable)
        bytes = template.encoded()
        bytes[4] += 1
        #expect(try !EnrolledFace(decoding: bytes).isComparable)
    }

    @Test func `a face is measured by the mean and the nearest pose`() {
        let face = Self.direction([1: 0.2])
        let expected = 0.5 * template.mean.distance(to: face) + 0.5 * 0
        #expect(abs(template.distance(to: face) - expected) < 1e-6)
    }

    @Test func `opposite directions are 2 apart and the same is 0`() {
        let one = Self.direction([:])
        let opposite = FaceDescriptor(normalising: one.values.map { -$0 })
        #expect(abs(one.distance(to: opposite) - 2) < 1e-5)
        #expect(one.distance(to: one) == 0)
    }
}
