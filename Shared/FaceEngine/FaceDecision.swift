/// Why a face was refused, in words that may be told to the person.
public enum FaceRefusal: Sendable, Equatable, CaseIterable {
    /// No face in a photo.
    case noFace
    /// Several faces in a photo.
    case multipleFaces
    /// A face with too few pixels.
    case faceTooSmall
    /// A photo that is not good enough in another way.
    case lowQuality
    /// A head that is not turned as was asked for.
    case poseMismatch
    /// Photos that are not all of one person.
    case inconsistentFaces
    /// One photo sent several times, be it mirrored or compressed again.
    case duplicateImages
    /// A photo that this account has sent before.
    case replayedImage
    /// A face that is not the account's.
    case noMatch

    init(_ fault: PhotoFault) {
        switch fault {
        case .noFace: self = .noFace
        case .multipleFaces: self = .multipleFaces
        case .faceTooSmall: self = .faceTooSmall
        case .unsupportedFormat, .tooLarge, .corrupt, .faceCutOff, .tooBlurry, .tooNoisy, .tooDark, .tooBright,
            .lowContrast, .headTilted:
            self = .lowQuality
        }
    }
}

/// The way a photo of a sign-up was to be taken.
public enum FacePose: Sendable, Hashable, CaseIterable {
    /// Turned to the left.
    case left
    /// Turned to the right.
    case right
    /// Straight on.
    case front
}
