public import FoundationEssentials

/// A list of other users that a user keeps; each kind is a table.
public enum PeopleList: String, Sendable, CaseIterable {
    /// The users whose messages, photos and invitations cause no pushes to the user: `user_blocks`.
    case blocks
    /// The users who may add the user to their topics without an invitation: `user_contacts`.
    case contacts

    /// The most users on one list.
    public static let maxCount = 1_000

    var table: String {
        switch self {
        case .blocks: "user_blocks"
        case .contacts: "user_contacts"
        }
    }

    /// The column with the other user.
    var column: String {
        switch self {
        case .blocks: "blocked_id"
        case .contacts: "contact_id"
        }
    }
}

/// A user on a list of another one: a row of `user_blocks` or `user_contacts`.
public struct ListedUser: Sendable, Equatable {
    /// The listed user; the id may belong to no account.
    public let userID: UUID
    /// When the user was put on the list.
    public let createdAt: Date
}
