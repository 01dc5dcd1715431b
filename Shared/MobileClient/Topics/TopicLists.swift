public import Foundation

/// A page of the events and conversations that this person is a member of, the last joined first.
public struct TopicList: Sendable, Equatable, Decodable {
    /// The role of this person in a topic. A role that this version does not know keeps its text.
    public struct Role: RawRepresentable, Sendable, Hashable, Decodable {
        /// The role as the API spells it, such as `owner`.
        public let rawValue: String

        /// Creates a role from the text of the API; any text is accepted.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Invites and removes members, and sees all of them.
        public static let owner = Self(rawValue: "owner")
        /// Takes part, and sees the other members where the topic shows them.
        public static let member = Self(rawValue: "member")
    }

    /// One topic.
    public struct Topic: Sendable, Equatable, Decodable {
        /// The whole name, such as `event:42`, as in pushes.
        public let name: String
        /// The role of this person in the topic.
        public let role: Role
        /// The number of all members.
        public let memberCount: Int
        /// Whether each member sees the others on the list of members; the owner sees all anyway.
        public let areMembersVisible: Bool
        /// When this person joined.
        public let joinedAt: Date

        enum CodingKeys: String, CodingKey {
            case name = "topic"
            case role
            case memberCount = "member_count"
            case areMembersVisible = "members_visible"
            case joinedAt = "joined_at"
        }
    }

    /// The topics of this page.
    public let topics: [Topic]
    /// The cursor of the next page; nil on the last page.
    public let nextCursor: String?

    enum CodingKeys: String, CodingKey {
        case topics
        case nextCursor = "next_cursor"
    }
}

/// A page of the invitations that this person can accept, the newest first.
public struct InvitationList: Sendable, Equatable, Decodable {
    /// One invitation.
    public struct Invitation: Sendable, Equatable, Decodable {
        /// The whole name, such as `event:42`, as in pushes.
        public let topic: String
        /// The user who invites.
        public let inviterID: UUID
        /// When the person was invited.
        public let createdAt: Date
        /// Until when it can be accepted.
        public let expiresAt: Date

        enum CodingKeys: String, CodingKey {
            case topic
            case inviterID = "inviter_id"
            case createdAt = "created_at"
            case expiresAt = "expires_at"
        }
    }

    /// The invitations of this page.
    public let invitations: [Invitation]
    /// The cursor of the next page; nil on the last page.
    public let nextCursor: String?

    enum CodingKeys: String, CodingKey {
        case invitations
        case nextCursor = "next_cursor"
    }
}

/// A page of the photos of an event that can be shown, the newest first.
public struct PhotoList: Sendable, Equatable, Decodable {
    /// One photo.
    public struct Photo: Sendable, Equatable, Decodable {
        /// The id of the photo.
        public let id: UUID
        /// The user who added it.
        public let uploaderID: UUID
        /// Its thumbnail, for a day at most: after that another list has another address.
        public let thumbnailURL: URL
        /// When the photo was added.
        public let createdAt: Date
        /// When it is deleted.
        public let expiresAt: Date

        enum CodingKeys: String, CodingKey {
            case id = "photo_id"
            case uploaderID = "uploader_id"
            case thumbnailURL = "thumbnail_url"
            case createdAt = "created_at"
            case expiresAt = "expires_at"
        }
    }

    /// The photos of this page.
    public let photos: [Photo]
    /// The cursor of the next page; nil on the last page.
    public let nextCursor: String?

    enum CodingKeys: String, CodingKey {
        case photos
        case nextCursor = "next_cursor"
    }
}
