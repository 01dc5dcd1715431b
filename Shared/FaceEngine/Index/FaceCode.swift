internal import CFaceNet

/// A face for the comparison with very many: the mean of its photos, of which each value is rounded to 8 bits.
///
/// It identifies a person as the descriptor does: it is never logged, stored or sent.
public struct FaceCode: Sendable, Equatable {
    /// The bytes of a code.
    public static let byteCount = Int(HG_CODE_LENGTH)

    let values: [Int8]

    /// Makes the code of a template.
    public init(_ face: EnrolledFace) { self.init(face.mean) }

    /// Makes the code of an encoded template of the current network and pipeline; nil for other bytes.
    ///
    /// Only the mean is read: a worker does this for every account when it starts, and a candidate's template is decoded as a whole later.
    public init?(encodedTemplate bytes: [UInt8]) {
        guard bytes.count == EnrolledFace.encodedByteCount else { return nil }
        // Four descriptors end a template, of which the mean is the first.
        let start = bytes.count - 4 * FaceDescriptor.count * 4
        let values = bytes.withUnsafeBytes { bytes in
            (0..<FaceDescriptor.count).map {
                Float(bitPattern: UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: start + 4 * $0, as: UInt32.self)))
            }
        }
        let squared = values.reduce(Float(0)) { $0 + $1 * $1 }
        guard abs(squared - 1) < 0.001 else { return nil }
        self.init(FaceDescriptor(normalising: values))
    }

    /// Makes the code of a descriptor.
    public init(_ descriptor: FaceDescriptor) {
        values = [Int8](unsafeUninitializedCapacity: Self.byteCount) { buffer, count in
            _ = descriptor.values.withUnsafeBufferPointer { hg_code_make($0.baseAddress, buffer.baseAddress) }
            count = Self.byteCount
        }
    }
}
