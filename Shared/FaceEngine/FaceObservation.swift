/// What is known of the one face in a photo that passed the gates.
public struct FaceObservation: Sendable {
    /// How far the head is turned, in degrees: positive when the nose points to the picture's right.
    public let yaw: Double
    /// How far the head is tilted in the picture, in degrees.
    public let roll: Double
    /// The face itself.
    public let descriptor: FaceDescriptor
    /// A small grey picture of the face with mean 0 and norm 1, to recognise the same photo again when it is mirrored.
    public let signature: FaceSignature

    /// Makes an observation.
    public init(yaw: Double, roll: Double, descriptor: FaceDescriptor, signature: FaceSignature) {
        self.yaw = yaw
        self.roll = roll
        self.descriptor = descriptor
        self.signature = signature
    }
}

/// A 24 by 24 grey picture of an aligned face, with mean 0 and norm 1.
public struct FaceSignature: Sendable, Equatable {
    /// Pixels on a side.
    public static let side = 24

    let levels: [Float]

    /// Makes a signature of 576 levels.
    public init(levels: [Float]) {
        precondition(levels.count == Self.side * Self.side, "a signature is a square")
        self.levels = levels
    }

    /// How much one picture is the mirror image of the other: 1 when it is exactly that, about 0 when it has nothing of it.
    public func mirrorCorrelation(with other: FaceSignature) -> Float {
        var sum: Float = 0
        for row in 0..<Self.side {
            let start = row * Self.side
            for column in 0..<Self.side {
                sum += levels[start + column] * other.levels[start + Self.side - 1 - column]
            }
        }
        return sum
    }
}

/// What came of looking at a photo.
public enum PhotoAnalysis: Sendable {
    /// There is one face in it, good enough for the purpose.
    case usable(FaceObservation)
    /// It cannot be used.
    case rejected(PhotoFault)
}

/// Why a photo cannot be used.
public enum PhotoFault: Sendable, Equatable, CaseIterable {
    /// Not a JPEG, PNG, WebP or HEIC file.
    case unsupportedFormat
    /// More pixels than the limits allow.
    case tooLarge
    /// Damaged or cut off.
    case corrupt
    /// No face was found.
    case noFace
    /// Several faces were found, and none of them is plainly the one meant.
    case multipleFaces
    /// The face has too few pixels.
    case faceTooSmall
    /// The face goes over the edge of the photo.
    case faceCutOff
    /// The face is out of focus, or moved.
    case tooBlurry
    /// There is more noise than face.
    case tooNoisy
    /// The face is under-exposed.
    case tooDark
    /// The face is over-exposed.
    case tooBright
    /// The face has too little contrast.
    case lowContrast
    /// The head is tilted too far to a shoulder.
    case headTilted
}

/// What a photo is for: what becomes part of a template has to be better than what is compared with it.
public enum PhotoPurpose: Sendable {
    /// To become part of a template.
    case signUp
    /// To be compared with a template.
    case signIn
}
