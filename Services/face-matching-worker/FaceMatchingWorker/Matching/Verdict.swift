internal import FaceEngine
internal import WireFormat

/// What the photos of a session say. It is made of pictures only; whether it holds is decided in the database.
enum Verdict: Sendable {
    /// A face that can be enrolled.
    case enrol(EnrolledFace, photoHashes: [[UInt8]])
    /// The account's face.
    case recognised(photoHashes: [[UInt8]])
    /// Neither.
    case refused(SessionReason)
}

extension SessionReason {
    /// What a refusal is called on the wire.
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
