public import FoundationEssentials
public import PostgresClient
public import WireFormat

/// Reads and writes `topics` and `topic_members`.
///
/// The first user who enters a topic makes it and owns it. The owner invites others and takes members out; every member may leave. An
/// owner who leaves is followed by the member of longest standing, and with the last member the topic is gone.
///
/// An id says nothing about acquaintance: ids are in pushes and answers, and anybody may hold one. So a user whom the owner asks in is
/// invited, and nothing of the topic reaches them until they accept by entering it themselves: no push about it but one that says that
/// there is an invitation, no list of members, nothing unread. Only a user who is a member of another topic together with the owner is
/// added at once. Leaving and declining are final as far as others go: the owner can neither add nor invite such a user again. The
/// user may come back alone, until the owner takes them out, gone as they are.
public struct TopicRepository: Sendable {
    /// The most members of one page of a list.
    public static let pageMax = 1_000

    let db: any PostgresQueryable

    /// Works on a client or inside a transaction.
    public init(_ db: some PostgresQueryable) {
        self.db = db
    }

    /// Returns a topic if this user is in it; to others it does not exist.
    public func find(_ name: TopicName, seenBy userID: UUID) async throws(PostgresError) -> Topic? {
        let query: PostgresQuery = """
            SELECT t.* FROM topics t JOIN topic_members m ON m.topic_id = t.id AND m.user_id = \(userID)
            WHERE t.name = \(name.text)
            """
        return try await topics(db.query(query.readOnly())).first
    }

    /// Returns topics by name; unknown names are left out.
    public func find(names: [TopicName]) async throws(PostgresError) -> [Topic] {
        guard !names.isEmpty else { return [] }
        let query: PostgresQuery = "SELECT * FROM topics WHERE name = ANY(\(names.map(\.text)))"
        return try await topics(db.query(query.readOnly()))
    }

    /// Returns members in the order of their ids.
    ///
    /// - Parameters:
    ///   - after: The last one of the page before; nil for the first page.
    ///   - limit: The most members, at most ``pageMax``.
    public func members(of topicID: UUID, after: UUID? = nil, limit: Int) async throws(PostgresError) -> [TopicMember] {
        let query: PostgresQuery = """
            SELECT user_id, joined_at FROM topic_members
            WHERE topic_id = \(topicID) AND (\(after)::uuid IS NULL OR user_id > \(after))
            ORDER BY user_id LIMIT \(min(max(limit, 0), Self.pageMax))
            """
        return try await db.query(query.readOnly()).map { row throws(PostgresError) in try TopicMember(row: row) }
    }

    func lock(_ name: TopicName) async throws(PostgresError) -> Topic? {
        try await topics(db.query("SELECT * FROM topics WHERE name = \(name.text) FOR UPDATE")).first
    }

    func isMember(_ userID: UUID, of topicID: UUID) async throws(PostgresError) -> Bool {
        try await !db.query("SELECT user_id FROM topic_members WHERE topic_id = \(topicID) AND user_id = \(userID)").isEmpty
    }

    private func topics(_ rows: PostgresRows) throws(PostgresError) -> [Topic] {
        try rows.map { row throws(PostgresError) in try Topic(row: row) }
    }
}
