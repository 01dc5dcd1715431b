public import FoundationEssentials
internal import PostgresClient
public import WireFormat

/// People who are told the same things: a row of `topics`.
public struct Topic: Sendable, Equatable {
    /// The id; a name that is used again is another topic.
    public let id: UUID
    /// What it is called.
    public let name: TopicName
    /// Who may change its members.
    public let ownerID: UUID
    /// How many members it has.
    public let memberCount: Int
    /// When it was made.
    public let createdAt: Date

    init(row: PostgresRow) throws(PostgresError) {
        id = try row.decode("id")
        name = try row.decodeTopicName("name")
        ownerID = try row.decode("owner_id")
        memberCount = try row.decode("member_count")
        createdAt = try row.decode("created_at")
    }
}

/// Somebody in a topic: a row of `topic_members`.
public struct TopicMember: Sendable, Equatable {
    /// Who it is.
    public let userID: UUID
    /// Since when.
    public let joinedAt: Date

    init(row: PostgresRow) throws(PostgresError) {
        userID = try row.decode("user_id")
        joinedAt = try row.decode("joined_at")
    }
}

/// How big topics may get.
public enum TopicLimits {
    /// The most members of a topic.
    public static let membersMax = 100_000
    /// The most topics somebody owns.
    public static let ownedMax = 200
    /// The most photos a topic has at a time.
    public static let photosMax = 5_000
}

/// What one account may add to topics in 24 hours.
public struct TopicPhotoQuota: Sendable {
    /// Photos.
    public var photosPerDay: Int
    /// Bytes of photos as they are uploaded.
    public var bytesPerDay: Int

    /// Makes a quota; the defaults are a long party with a good camera: 500 photos and 1 GiB, which is 30 GiB kept at most.
    public init(photosPerDay: Int = 500, bytesPerDay: Int = 1 << 30) {
        self.photosPerDay = photosPerDay
        self.bytesPerDay = bytesPerDay
    }
}

/// What came of a wish to change who is in a topic.
public enum TopicMemberChange: Sendable, Equatable {
    /// It is so now: because of this call, or already before.
    case done(changed: Bool)
    /// Whoever asks is in the topic, or asks for a place in it, and may not.
    case forbidden
    /// There is no such topic, as far as whoever asks may know.
    case notFound
    /// The user is not in the topic, and has an invitation now: because of this call, which made the one given, or already before.
    case invited(TopicInvitation?)
    /// The topic is full, or the account that asks has as many as one may have.
    case limitReached
    /// The account that asks has made as many invitations as it may in 24 hours; it may make another one after this time.
    case quotaReached(wait: Duration)
}

extension PostgresRow {
    func decodeTopicName(_ column: String) throws(PostgresError) -> TopicName {
        guard let name = TopicName(try decode(column, as: String.self)) else {
            throw PostgresError(code: .decoding, message: "column \(column) holds what is no topic's name")
        }
        return name
    }
}
