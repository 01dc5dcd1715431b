/// The measurements of the one face in a photo that passed the gates.
public struct FaceObservation: Sendable {
    /// The turn of the head in degrees: positive when the nose points to the picture's right.
    public let yaw: Double
    /// The tilt of the head in the picture, in degrees.
    public let roll: Double
    /// The descriptor of the face.
    public let descriptor: FaceDescriptor
    /// A small grey picture of the face, with which a mirrored copy of the same photo is recognised.
    public let signature: FaceSignature
    /// The signature of the photo's mirror image; only of a photo for a sign-in.
    public var mirrorSignature: FaceSignature?
    /// How the face is presented, which tells a head from a print of it.
    public let presentation: FacePresentation

    /// Returns whether the other photo is a copy of this one, possibly mirrored or compressed again.
    func isCopy(of other: FaceObservation) -> Bool {
        let distance = descriptor.distance(to: other.descriptor)
        if distance < FaceThresholds.copy { return true }
        return distance < FaceThresholds.maxMirrorDistance
            && signature.mirrorCorrelation(with: other.signature) > FaceThresholds.mirrorCorrelation
    }
}

/// A 24 by 24 grey picture of an aligned face, with mean 0 and norm 1.
public struct FaceSignature: Sendable, Equatable {
    /// Pixels on a side.
    public static let side = 24

    let levels: [Float]

    /// Creates a signature from 576 levels.
    public init(levels: [Float]) {
        precondition(levels.count == Self.side * Self.side, "a signature is a square")
        self.levels = levels
    }

    /// The signature of the photo's mirror image, left to right.
    public var mirrored: FaceSignature {
        var mirrored: [Float] = []
        mirrored.reserveCapacity(levels.count)
        for start in stride(from: 0, to: levels.count, by: Self.side) { mirrored += levels[start..<(start + Self.side)].reversed() }
        return FaceSignature(levels: mirrored)
    }

    /// Returns the correlation with the mirror image of another signature: 1 for an exact mirror image, about 0 for an unrelated one.
    public func mirrorCorrelation(with other: FaceSignature) -> Float {
        zip(levels, other.mirrored.levels).reduce(0) { $0 + $1.0 * $1.1 }
    }
}
