public import FoundationEssentials

/// An account or a face is to be erased: each service erases what it keeps of the user, and reports it.
///
/// The event names the erasure, not the user, so that no stream keeps the user's id.
public struct UserErased: Event {
    public static var type: EventType { .userErased }
    public static var groups: [String] { ["identity-api", "face-matching-worker", "image-worker", "token-registry", "notifier"] }

    @WireUUID public var erasureID: UUID

    public var key: String { erasureID.wireString }

    public init(erasureID: UUID) {
        self.erasureID = erasureID
    }

    enum CodingKeys: String, CodingKey {
        case erasureID = "erasure_id"
    }
}
