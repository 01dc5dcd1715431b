public import FoundationEssentials
public import JSON

/// An account or a face is to be erased: each service erases what it keeps of the user, and reports it.
///
/// The event names the erasure, not the user, so that no stream keeps the user's id.
public struct UserErased: Event {
    public static var type: EventType { .userErased }
    public static var groups: [String] { ["identity-api", "face-matching-worker", "image-worker", "token-registry", "notifier"] }

    public var erasureID: UUID

    public var key: String { erasureID.wireString }

    public init(erasureID: UUID) {
        self.erasureID = erasureID
    }

    public init(from body: BodyReader) throws(BodyFault) {
        erasureID = try body.read("erasure_id")
    }

    public func writeMembers(to body: inout JSONWriter) {
        body.member("erasure_id", erasureID)
    }
}
