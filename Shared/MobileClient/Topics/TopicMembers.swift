public import Foundation

/// A page of the members of an event or a conversation.
public struct TopicMembers: Sendable, Equatable, Decodable {
    /// One member.
    public struct Member: Sendable, Equatable, Decodable {
        /// The id of the member's account.
        public let userID: UUID
        /// When the member joined.
        public let joinedAt: Date

        enum CodingKeys: String, CodingKey {
            case userID = "user_id"
            case joinedAt = "joined_at"
        }
    }

    /// The result for a person whom the owner adds: a member or an invited person.
    public enum Addition: Sendable, Equatable {
        /// The person is a member: they have accepted another invitation of the owner's, or have the owner among their contacts.
        case added
        /// The person is invited, and a member once they accept. Also the outcome for an id that no account has.
        case invited
    }

    /// The member who invites and removes others; nil when the topic belongs to the app's own server.
    public let ownerID: UUID?
    /// The number of all members.
    public let count: Int
    /// Whether each member sees the others; the owner sees all anyway.
    public let areVisible: Bool
    /// The members of this page: all, or only the owner and this person, as ``areVisible`` says.
    public let members: [Member]
    /// The cursor of the next page; nil on the last page.
    public let nextCursor: UUID?

    enum CodingKeys: String, CodingKey {
        case ownerID = "owner_id"
        case count = "member_count"
        case areVisible = "members_visible"
        case members
        case nextCursor = "next_cursor"
    }
}

/// The numbers of unread items.
public struct TopicUnread: Sendable, Equatable, Decodable {
    /// The number of unread items of this event or conversation.
    public let unread: Int
    /// The number for the app's icon: everything of this person that is unread.
    public let badge: Int
}
