public import FoundationEssentials
public import JSON

/// An account or a face is to be erased: each service erases its records of the user, and reports it.
///
/// The event names the erasure, not the user, so that no stream keeps the user's id.
public struct UserErased: Event {
    /// `user.erased`, which is also the name of the stream.
    public static var type: EventType { .userErased }
    /// The services that have to report before an erasure is complete.
    public static var groups: [String] { ["identity-api", "face-matching-worker", "image-worker", "token-registry", "notifier"] }

    /// The erasure to carry out; `erasures.id`.
    public var erasureID: UUID

    /// The id of the erasure as text, so that its repetitions are published in order.
    public var key: String { erasureID.wireString }

    /// Creates the event that makes every service carry out an erasure.
    public init(erasureID: UUID) {
        self.erasureID = erasureID
    }

    /// Reads `erasure_id`, which has to be there.
    public init(from body: BodyReader) throws(BodyFault) {
        erasureID = try body.read("erasure_id")
    }

    /// Writes `erasure_id`.
    public func writeMembers(to body: inout JSONWriter) {
        body.member("erasure_id", erasureID)
    }
}
