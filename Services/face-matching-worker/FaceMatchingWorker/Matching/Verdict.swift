internal import FaceEngine
internal import WireFormat

/// The result of examining a session's photos. It is based on the pictures only; the database decides whether it still applies.
enum Verdict: Sendable {
    /// A face that can be enrolled.
    case enrol(EnrolledFace, photoHashes: [[UInt8]])
    /// The account's face.
    case recognised(photoHashes: [[UInt8]])
    /// Neither.
    case refused(SessionReason)
}

extension SessionReason {
    /// Returns the reason on the wire for a refusal.
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
