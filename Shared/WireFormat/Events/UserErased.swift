public import FoundationEssentials

/// An operator or a user requested the deletion of the user's push data.
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
