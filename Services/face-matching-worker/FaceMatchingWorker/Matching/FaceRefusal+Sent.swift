internal import Accounts
internal import FaceEngine
internal import WireFormat

// The engine does not know the wire format: this file maps its values to it.

extension SessionReason {
    /// The reason of a refusal, as it is sent.
    init(_ refusal: FaceRefusal) {
        switch refusal {
        case .noFace: self = .noFace
        case .multipleFaces: self = .multipleFaces
        case .faceTooSmall: self = .faceTooSmall
        case .lowQuality: self = .lowQuality
        case .undecodable: self = .invalidImage
        case .poseMismatch: self = .poseMismatch
        case .inconsistentFaces: self = .inconsistentFaces
        case .duplicateImages: self = .duplicateImages
        case .replayedImage: self = .replayedImage
        case .noMatch: self = .noMatch
        }
    }
}

extension PhotoProblem {
    /// The problem of a photo with this fault, as it is sent.
    init(_ fault: PhotoFault) {
        switch fault {
        case .unsupportedFormat, .tooLarge, .corrupt: self = .undecodable
        case .noFace: self = .noFace
        case .multipleFaces: self = .severalFaces
        case .faceTooSmall: self = .tooSmall
        case .faceCutOff: self = .cutOff
        case .tooBlurry: self = .blurred
        case .tooNoisy: self = .noisy
        case .tooDark: self = .tooDark
        case .tooBright: self = .tooBright
        case .lowContrast: self = .lowContrast
        case .headTilted: self = .tilted
        case .turnedTooLittle: self = .turnedTooLittle
        case .turnedTooFar: self = .turnedTooFar
        case .turnedWrongWay: self = .turnedWrongWay
        case .copyOfAnother: self = .looksLikeAnotherPhoto
        }
    }
}

extension FacePose {
    /// Converts the pose of a sign-up's photo; nil for a sign-in's photo, which may have any pose, and for a photo that answers a
    /// challenge.
    init?(_ pose: SessionPhoto.Pose) {
        switch pose {
        case .left: self = .left
        case .right: self = .right
        case .front: self = .front
        case .any, .challenge: return nil
        }
    }
}
