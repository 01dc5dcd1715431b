public import FoundationEssentials

/// Whatever is kept of a user for the sake of pushes has to go: an operator, or the user, wants it so.
public struct UserErased: Event {
    public static var type: EventType { .userErased }
    public static var groups: [String] { ["token-registry"] }

    @WireUUID public var userID: UUID

    public var key: String { userID.wireString }

    public init(userID: UUID) {
        self.userID = userID
    }

    enum CodingKeys: String, CodingKey {
        case userID = "user_id"
    }
}
