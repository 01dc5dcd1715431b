/// The reason for which a face was refused; it may be shown to the person.
public enum FaceRefusal: Sendable, Equatable, CaseIterable {
    /// A photo has no face.
    case noFace
    /// A photo has several faces.
    case multipleFaces
    /// A face has too few pixels.
    case faceTooSmall
    /// A photo is of insufficient quality in another way.
    case lowQuality
    /// A photo cannot be decoded: the person cannot mend that by a better one.
    case undecodable
    /// A head is not turned as requested.
    case poseMismatch
    /// The photos show several people.
    case inconsistentFaces
    /// One photo was sent several times, possibly mirrored or recompressed.
    case duplicateImages
    /// The account has sent a photo before.
    case replayedImage
    /// The face is not the account's face.
    case noMatch

    /// The reason for which a photo with this fault is refused.
    public init(_ fault: PhotoFault) {
        switch fault {
        case .noFace: self = .noFace
        case .multipleFaces: self = .multipleFaces
        case .faceTooSmall: self = .faceTooSmall
        case .unsupportedFormat, .tooLarge, .corrupt: self = .undecodable
        case .faceCutOff, .tooBlurry, .tooNoisy, .tooDark, .tooBright, .lowContrast, .headTilted: self = .lowQuality
        case .turnedTooLittle, .turnedTooFar, .turnedWrongWay: self = .poseMismatch
        case .copyOfAnother: self = .duplicateImages
        }
    }
}

/// The requested pose of a photo of a sign-up.
public enum FacePose: Sendable, Hashable, CaseIterable {
    /// Turned to the left.
    case left
    /// Turned to the right.
    case right
    /// Straight on.
    case front
}
