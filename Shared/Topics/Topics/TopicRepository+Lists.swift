public import Accounts
public import FoundationEssentials
public import PostgresClient
public import WireFormat

/// A user's membership of a topic.
public struct TopicMembership: Sendable, Equatable {
    /// The topic.
    public let topic: Topic
    /// When the user joined.
    public let joinedAt: Date

    init(row: PostgresRow) throws(PostgresError) {
        topic = try Topic(row: row)
        joinedAt = try row.decode("joined_at")
    }
}

/// An invitation that its user can accept. Before, the user sees nothing of the topic, such as its members.
public struct OpenInvitation: Sendable, Equatable {
    /// The topic's id.
    public let topicID: UUID
    /// The topic's name.
    public let topic: TopicName
    /// The user who invites.
    public let inviterID: UUID
    /// When it was made.
    public let createdAt: Date
    /// When it ends.
    public let expiresAt: Date

    init(row: PostgresRow) throws(PostgresError) {
        topicID = try row.decode("topic_id")
        topic = try row.decodeTopicName("name")
        inviterID = try row.decode("inviter_id")
        createdAt = try row.decode("created_at")
        expiresAt = try row.decode("expires_at")
    }
}

extension TopicRepository {
    /// Returns a user's topics, the last joined first.
    ///
    /// - Parameters:
    ///   - cursor: The end of the previous page.
    ///   - limit: The most topics; capped at ``maxPageSize``.
    public func memberships(of userID: UUID, before cursor: ListCursor = .start, limit: Int) async throws(PostgresError)
        -> [TopicMembership]
    {
        let query: PostgresQuery = """
            SELECT t.*, m.joined_at FROM topic_members m JOIN topics t ON t.id = m.topic_id
            WHERE m.user_id = \(userID)
              AND (m.joined_at, m.topic_id) < (\(cursor.createdAt), \(cursor.id))
            ORDER BY m.joined_at DESC, m.topic_id DESC LIMIT \(min(max(limit, 0), Self.maxPageSize))
            """
        return try await db.query(query.readOnly()).map(TopicMembership.init(row:))
    }

    /// Returns the invitations that a user can accept, the newest first; without invitations from users whom the user blocks.
    ///
    /// - Parameters: As for ``memberships(of:before:limit:)``.
    public func openInvitations(of userID: UUID, before cursor: ListCursor = .start, limit: Int) async throws(PostgresError)
        -> [OpenInvitation]
    {
        let query: PostgresQuery = """
            SELECT i.*, t.name FROM topic_invitations i JOIN topics t ON t.id = i.topic_id
            WHERE i.user_id = \(userID) AND i.expires_at > now()
              AND i.inviter_id NOT IN (SELECT blocked_id FROM user_blocks WHERE user_id = \(userID))
              AND (i.created_at, i.topic_id) < (\(cursor.createdAt), \(cursor.id))
            ORDER BY i.created_at DESC, i.topic_id DESC LIMIT \(min(max(limit, 0), Self.maxPageSize))
            """
        return try await db.query(query.readOnly()).map(OpenInvitation.init(row:))
    }
}
