public import FoundationEssentials
public import PostgresClient
public import WireFormat

/// Reads and writes `topics` and `topic_members`.
///
/// A topic is made by whoever enters it first. That is its owner, who lets others in and out; everybody may leave. An owner
/// who leaves is followed by whoever has been in it longest, and with the last member the topic is gone.
///
/// Who is let in is not asked: an invitation to an event, or into a conversation, comes with the first push, as the guest lists
/// and group chats that people know do it, and only those can be named whose id one has, which are those one shares a topic
/// with. But leaving is final as far as others go: nobody is put back into a topic they have left. They may come back by
/// themselves, until the owner takes them out, gone as they are.
public struct TopicRepository: Sendable {
    /// The most members of one page of a list.
    public static let pageMax = 1_000
    /// How often a name is looked at again that comes and goes between two statements.
    private static let looksMax = 3

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

    /// Lets somebody into a topic, which is made if somebody enters a new one.
    ///
    /// Belongs in a transaction: the topic is locked first.
    ///
    /// - Parameters:
    ///   - userID: Who is let in; nobody looks whether there is such a user.
    ///   - actor: Who asks for it; has to be a user.
    /// - Returns: `forbidden` when a member who is not the owner asks, a stranger asks to be let in, or the owner asks for
    ///   somebody who has left.
    public func add(_ userID: UUID, to name: TopicName, by actor: UUID) async throws(PostgresError) -> TopicMemberChange {
        for _ in 0..<Self.looksMax {
            if userID == actor, try await make(name, owner: actor) { return .done(changed: true) }
            guard let topic = try await lock(name) else {
                guard userID == actor else { return .notFound }
                // Either it went away just now, or none was made because there are too many.
                if try await ownedCount(actor) >= TopicLimits.ownedMax { return .limitReached }
                continue
            }
            if try await isMember(userID, of: topic.id) {
                return try await isMember(actor, of: topic.id) ? .done(changed: false) : .notFound
            }
            if let refusal = try await refusal(of: userID, in: topic, by: actor) { return refusal }
            try await enter(userID, topic)
            return .done(changed: true)
        }
        return .notFound
    }

    /// Why somebody who is not in a topic is not let in; nil when there is no reason.
    private func refusal(of userID: UUID, in topic: Topic, by actor: UUID) async throws(PostgresError) -> TopicMemberChange? {
        let leavers = try await db.query(
            "SELECT may_return FROM topic_leavers WHERE topic_id = \(topic.id) AND user_id = \(userID)")
        let mayReturn = try leavers.first.map { row throws(PostgresError) in try row.decode("may_return", as: Bool.self) }
        if userID == actor {
            guard mayReturn == true else { return .forbidden }
        } else {
            guard try await isMember(actor, of: topic.id) else { return .notFound }
            guard topic.ownerID == actor, mayReturn == nil else { return .forbidden }
        }
        return topic.memberCount < TopicLimits.membersMax ? nil : .limitReached
    }

    private func enter(_ userID: UUID, _ topic: Topic) async throws(PostgresError) {
        // What was said before is not unread to somebody who was not there.
        try await db.execute(
            """
            INSERT INTO topic_members (topic_id, user_id, read_seq)
            SELECT id, \(userID), item_seq FROM topics WHERE id = \(topic.id)
            """)
        try await db.execute("UPDATE topics SET member_count = member_count + 1 WHERE id = \(topic.id)")
        try await db.execute("DELETE FROM topic_leavers WHERE topic_id = \(topic.id) AND user_id = \(userID)")
    }

    /// Takes somebody out of a topic, which goes with its last member.
    ///
    /// Belongs in a transaction: the topic is locked first.
    ///
    /// - Returns: `forbidden` when a member who is not the owner asks for somebody else.
    public func remove(_ userID: UUID, from name: TopicName, by actor: UUID) async throws(PostgresError) -> TopicMemberChange {
        guard let topic = try await lock(name), try await isMember(actor, of: topic.id) else { return .notFound }
        guard userID == actor || topic.ownerID == actor else { return .forbidden }
        let removed = try await db.execute(
            "DELETE FROM topic_members WHERE topic_id = \(topic.id) AND user_id = \(userID)")
        guard removed == 1 else {
            // One who left before, and is not to come back either.
            try await db.execute(
                "UPDATE topic_leavers SET may_return = false WHERE topic_id = \(topic.id) AND user_id = \(userID)")
            return .done(changed: false)
        }
        if userID == actor {
            try await db.execute(
                "INSERT INTO topic_leavers (topic_id, user_id) VALUES (\(topic.id), \(userID)) ON CONFLICT DO NOTHING")
        }
        guard userID == topic.ownerID else {
            try await db.execute("UPDATE topics SET member_count = member_count - 1 WHERE id = \(topic.id)")
            return .done(changed: true)
        }
        if let heir = try await heir(of: topic.id) {
            try await db.execute(
                "UPDATE topics SET member_count = member_count - 1, owner_id = \(heir) WHERE id = \(topic.id)")
        } else {
            try await db.execute("DELETE FROM topics WHERE id = \(topic.id)")
        }
        return .done(changed: true)
    }

    /// Who owns a topic next: the member of longest standing who is a user; nil when none is left.
    private func heir(of topicID: UUID) async throws(PostgresError) -> UUID? {
        let rows = try await db.query(
            """
            SELECT m.user_id FROM topic_members m JOIN users u ON u.id = m.user_id
            WHERE m.topic_id = \(topicID) ORDER BY m.joined_at, m.user_id LIMIT 1
            """)
        return try rows.first.map { row throws(PostgresError) in try row.decode("user_id") }
    }

    /// Makes a topic with its first member; false when there is one, or its maker has too many.
    private func make(_ name: TopicName, owner: UUID) async throws(PostgresError) -> Bool {
        try await db.execute(
            """
            WITH made AS (
                INSERT INTO topics (name, owner_id) SELECT \(name.text), \(owner)
                WHERE (SELECT count(*) FROM topics WHERE owner_id = \(owner)) < \(TopicLimits.ownedMax)
                ON CONFLICT (name) DO NOTHING
                RETURNING id
            )
            INSERT INTO topic_members (topic_id, user_id) SELECT id, \(owner) FROM made
            """) == 1
    }

    private func lock(_ name: TopicName) async throws(PostgresError) -> Topic? {
        try await topics(db.query("SELECT * FROM topics WHERE name = \(name.text) FOR UPDATE")).first
    }

    private func isMember(_ userID: UUID, of topicID: UUID) async throws(PostgresError) -> Bool {
        try await !db.query("SELECT user_id FROM topic_members WHERE topic_id = \(topicID) AND user_id = \(userID)").isEmpty
    }

    private func ownedCount(_ userID: UUID) async throws(PostgresError) -> Int {
        try await db.query("SELECT count(*) AS owned FROM topics WHERE owner_id = \(userID)").first?.decode("owned") ?? 0
    }

    private func topics(_ rows: PostgresRows) throws(PostgresError) -> [Topic] {
        try rows.map { row throws(PostgresError) in try Topic(row: row) }
    }
}
