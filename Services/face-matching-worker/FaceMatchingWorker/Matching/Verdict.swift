internal import FaceEngine
internal import WireFormat

/// The result of examining a session's photos; the transaction that settles the session decides whether it stands.
enum Verdict: Sendable {
    /// The photos show a face that can be enrolled.
    case enrol(EnrolledFace, photoHashes: [[UInt8]])
    /// The photos show the account's face.
    case recognised(photoHashes: [[UInt8]])
    /// The photos are refused, for this reason.
    case refused(SessionReason)
}

extension SessionReason {
    /// The reason of a refusal, as it is sent.
    init(_ refusal: FaceRefusal) {
        switch refusal {
        case .noFace: self = .noFace
        case .multipleFaces: self = .multipleFaces
        case .faceTooSmall: self = .faceTooSmall
        case .lowQuality: self = .lowQuality
        case .poseMismatch: self = .poseMismatch
        case .inconsistentFaces: self = .inconsistentFaces
        case .duplicateImages: self = .duplicateImages
        case .replayedImage: self = .replayedImage
        case .noMatch: self = .noMatch
        }
    }
}
