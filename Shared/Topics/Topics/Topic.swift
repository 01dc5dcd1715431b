public import FoundationEssentials
internal import PostgresClient
public import WireFormat

/// A group of users that receive the same notifications: a row of `topics`.
public struct Topic: Sendable, Equatable {
    /// The id; a later topic of the same name has another.
    public let id: UUID
    /// The name.
    public let name: TopicName
    /// The user who may change its members; nil when an app owns it.
    public let ownerID: UUID?
    /// The app whose own server may change its members; nil when a user owns it.
    public let ownerApp: String?
    /// Whether each member sees all members in the list; the owner always sees all.
    public let membersVisible: Bool
    /// The number of members.
    public let memberCount: Int
    /// When it was created.
    public let createdAt: Date

    init(row: PostgresRow) throws(PostgresError) {
        id = try row.decode("id")
        name = try row.decodeTopicName("name")
        ownerID = try row.decode("owner_id")
        ownerApp = try row.decode("owner_app")
        membersVisible = try row.decode("members_visible")
        memberCount = try row.decode("member_count")
        createdAt = try row.decode("created_at")
    }
}

/// A member of a topic: a row of `topic_members`.
public struct TopicMember: Sendable, Equatable {
    /// The user.
    public let userID: UUID
    /// When the user joined.
    public let joinedAt: Date

    init(row: PostgresRow) throws(PostgresError) {
        userID = try row.decode("user_id")
        joinedAt = try row.decode("joined_at")
    }
}

/// Limits on the size and number of topics.
public enum TopicLimits {
    /// The most members of a topic.
    public static let maxMembers = 100_000
    /// The most topics that a user owns.
    public static let maxOwned = 200
    /// The most topics that an app owns.
    public static let maxOwnedByApp = 100_000
    /// The most photos a topic has at a time.
    public static let maxPhotos = 5_000
}

/// A limit on the photos that one account adds to topics in 24 hours.
public struct TopicPhotoQuota: Sendable {
    /// The number of photos.
    public var photosPerDay: Int
    /// The total size of the uploaded photos in bytes.
    public var bytesPerDay: Int

    /// Makes a quota. The defaults fit a long party with a good camera: 500 photos and 1 GiB a day, so at most 30 GiB are stored.
    public init(photosPerDay: Int = 500, bytesPerDay: Int = 1 << 30) {
        self.photosPerDay = photosPerDay
        self.bytesPerDay = bytesPerDay
    }
}

/// The result of changing the members of a topic.
public enum TopicMemberChange: Sendable, Equatable {
    /// The topic is as requested; `changed` is whether this call changed it.
    case done(changed: Bool)
    /// The caller is a member or wants to become one, and may not make this change.
    case forbidden
    /// The topic does not exist, or the caller may not see it.
    case notFound
    /// The user is not a member, but is invited; with the invitation if this call made it.
    case invited(TopicInvitation?)
    /// The name belongs to a topic of another owner.
    case nameTaken
    /// The topic is full, or the caller owns the maximum number of topics.
    case limitReached
    /// The caller has invited or added as many users as it may in 24 hours; it may go on after this time.
    case quotaReached(wait: Duration)
}

extension PostgresRow {
    func decodeTopicName(_ column: String) throws(PostgresError) -> TopicName {
        guard let name = TopicName(try decode(column, as: String.self)) else {
            throw PostgresError(code: .decoding, message: "column \(column) holds an invalid topic name")
        }
        return name
    }
}
