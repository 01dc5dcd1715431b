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
