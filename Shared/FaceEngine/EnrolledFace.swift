/// The template of a person's face: four descriptors, and the model they belong to.
///
/// It is biometric data: it is stored sealed, compared in the worker, and never logged.
public struct EnrolledFace: Sendable, Equatable {
    /// Version of the pipeline from photo to descriptor (detector, alignment, scale, gates), stored with every template.
    public static let currentPipelineVersion: UInt16 = 3
    private static let magic = Array("HGF1".utf8)
    private static let modelIDBytes = 16
    /// Bytes of an encoded template.
    public static let encodedByteCount = 4 + 2 + 16 + 1 + 4 * FaceDescriptor.count * 4

    /// The network that computed the descriptors.
    public let modelID: String
    /// The version of the pipeline that computed them.
    public let pipelineVersion: UInt16
    /// True when the camera saved its pictures mirrored.
    public let isMirrored: Bool
    /// The mean of all photos.
    public let mean: FaceDescriptor
    /// The mean of the photos turned to the left, to the right, and straight on.
    public let poses: [FaceDescriptor]

    /// Creates a template from descriptors.
    ///
    /// - Precondition: No pose is empty.
    public init(left: [FaceDescriptor], right: [FaceDescriptor], front: [FaceDescriptor], isMirrored: Bool) {
        modelID = FaceModels.modelID
        pipelineVersion = Self.currentPipelineVersion
        self.isMirrored = isMirrored
        mean = FaceDescriptor.mean(left + right + front)
        poses = [left, right, front].map(FaceDescriptor.mean)
    }

    /// Returns the distance of a face from this template: the average of its distances to the mean and to the nearest pose.
    public func distance(to face: FaceDescriptor) -> Float {
        let nearest = poses.map { $0.distance(to: face) }.min() ?? .infinity
        return 0.5 * mean.distance(to: face) + 0.5 * nearest
    }

    /// Returns whether another template is of the same person, as it seems.
    public func resembles(_ other: EnrolledFace) -> Bool { mean.distance(to: other.mean) <= FaceThresholds.duplicate }

    /// True when descriptors of the current pipeline can be compared with this template.
    public var isComparable: Bool {
        modelID == FaceModels.modelID && pipelineVersion == Self.currentPipelineVersion
    }

    // MARK: Bytes

    /// Encodes the template: magic bytes, pipeline version, model, flags, then four times 128 numbers (IEEE 754, little-endian).
    public func encoded() -> [UInt8] {
        var bytes = Self.magic
        bytes.reserveCapacity(Self.encodedByteCount)
        bytes.append(contentsOf: [UInt8(pipelineVersion & 0xFF), UInt8(pipelineVersion >> 8)])
        bytes.append(contentsOf: modelID.utf8)
        bytes.append(isMirrored ? 1 : 0)
        for descriptor in [mean] + poses {
            for value in descriptor.values {
                withUnsafeBytes(of: value.bitPattern.littleEndian) { bytes.append(contentsOf: $0) }
            }
        }
        return bytes
    }

    /// Decodes the result of ``encoded()``.
    ///
    /// - Throws: ``FaceEngineError`` with `badTemplate`.
    public init(decoding bytes: [UInt8]) throws(FaceEngineError) {
        try Self.check(bytes)
        pipelineVersion = UInt16(bytes[4]) | UInt16(bytes[5]) << 8
        modelID = String(decoding: bytes[6..<(6 + Self.modelIDBytes)], as: UTF8.self)
        isMirrored = bytes[6 + Self.modelIDBytes] & 1 == 1
        mean = try Self.descriptor(0, in: bytes)
        poses = try (1..<4).map { index throws(FaceEngineError) in try Self.descriptor(index, in: bytes) }
    }

    /// Decodes the mean alone: a worker does this for every account when it starts.
    ///
    /// - Throws: ``FaceEngineError`` with `badTemplate`.
    static func mean(decoding bytes: [UInt8]) throws(FaceEngineError) -> FaceDescriptor {
        try check(bytes)
        return try descriptor(0, in: bytes)
    }

    private static func check(_ bytes: [UInt8]) throws(FaceEngineError) {
        guard bytes.count == encodedByteCount, bytes.starts(with: magic) else {
            throw FaceEngineError(.badTemplate, "\(bytes.count) bytes that are no template")
        }
    }

    /// Decodes one of the four descriptors that end a template: the mean is the first.
    private static func descriptor(_ index: Int, in bytes: [UInt8]) throws(FaceEngineError) -> FaceDescriptor {
        let start = bytes.count - (4 - index) * FaceDescriptor.count * 4
        let values = bytes.withUnsafeBytes { bytes in
            (0..<FaceDescriptor.count).map {
                Float(bitPattern: UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: start + 4 * $0, as: UInt32.self)))
            }
        }
        let squared = values.reduce(Float(0)) { $0 + $1 * $1 }
        guard abs(squared - 1) < 0.001 else { throw FaceEngineError(.badTemplate, "a descriptor that has not length 1") }
        return FaceDescriptor(normalising: values)
    }
}
