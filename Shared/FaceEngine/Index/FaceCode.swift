internal import CFaceNet

/// A face for the comparison with very many faces: the mean of its photos' descriptors, with each value rounded to 8 bits.
///
/// It identifies a person as the descriptor does: it is never logged, stored or sent.
public struct FaceCode: Sendable, Equatable {
    /// The bytes of a code.
    public static let byteCount = Int(HG_CODE_LENGTH)

    let values: [Int8]

    /// Makes the code of a template.
    public init(_ face: EnrolledFace) { self.init(face.mean) }

    /// Makes the code of an encoded template of the current network and pipeline; nil for other bytes.
    public init?(encodedTemplate bytes: [UInt8]) {
        guard let mean = try? EnrolledFace.mean(decoding: bytes) else { return nil }
        self.init(mean)
    }

    /// Makes the code of a descriptor.
    public init(_ descriptor: FaceDescriptor) {
        values = [Int8](unsafeUninitializedCapacity: Self.byteCount) { buffer, count in
            _ = descriptor.values.withUnsafeBufferPointer { hg_code_make($0.baseAddress, buffer.baseAddress) }
            count = Self.byteCount
        }
    }
}
