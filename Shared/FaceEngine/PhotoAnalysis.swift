/// The result of analysing a photo.
public enum PhotoAnalysis: Sendable {
    /// The photo has one face, of sufficient quality for the purpose.
    case usable(FaceObservation)
    /// The photo cannot be used.
    case rejected(PhotoFaults)
}

/// The faults of a photo that cannot be used.
public struct PhotoFaults: Sendable, Equatable {
    /// The fault that decides the reason of a refusal.
    public let first: PhotoFault
    /// The other faults, in the order in which they were found.
    public let others: [PhotoFault]
    /// The turn of the head, as in ``FaceObservation/yaw``; nil where it could not be measured.
    public let yaw: Double?

    /// Creates faults.
    public init(_ first: PhotoFault, _ others: [PhotoFault] = [], yaw: Double? = nil) {
        (self.first, self.others, self.yaw) = (first, others, yaw)
    }

    /// All faults, ``first`` before the others.
    public var all: [PhotoFault] { [first] + others }
}

/// The reason for which a photo cannot be used.
public enum PhotoFault: Sendable, Equatable, CaseIterable {
    /// Not a JPEG, PNG, WebP or HEIC file.
    case unsupportedFormat
    /// More pixels than the limits allow.
    case tooLarge
    /// Damaged or cut off.
    case corrupt
    /// No face was found.
    case noFace
    /// Several faces were found, and no face is dominant.
    case multipleFaces
    /// The face has too few pixels.
    case faceTooSmall
    /// The face extends beyond the edge of the photo.
    case faceCutOff
    /// The face is out of focus or has motion blur.
    case tooBlurry
    /// The face has too much noise.
    case tooNoisy
    /// The face is under-exposed.
    case tooDark
    /// The face is over-exposed.
    case tooBright
    /// The face has too little contrast.
    case lowContrast
    /// The head is tilted too far sideways.
    case headTilted
    /// The head is turned less than the pose of the photo asks for.
    case turnedTooLittle
    /// The head is turned farther than the pose of the photo allows.
    case turnedTooFar
    /// The head is turned to the side of the opposite pose.
    case turnedWrongWay
    /// The photo is a copy of an earlier one of its upload, possibly mirrored or compressed again.
    case copyOfAnother
}

/// The purpose of a photo. Photos of a template must be better than photos that are compared with it.
public enum PhotoPurpose: Sendable {
    /// The photo becomes part of a template.
    case signUp
    /// The photo is compared with a template.
    case signIn
}
