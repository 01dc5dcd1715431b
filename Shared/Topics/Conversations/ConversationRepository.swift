public import FoundationEssentials
public import PostgresClient
public import WireFormat

/// Reads and writes `conversation_messages` and what members have read of topics.
public struct ConversationRepository: Sendable {
    let db: any PostgresQueryable

    /// Works on a client or inside a transaction.
    public init(_ db: some PostgresQueryable) {
        self.db = db
    }

    /// Posts a message once, and marks everything before it as read by its sender, who has the conversation on the screen.
    ///
    /// Call in a transaction, with the push that follows: the topic is locked, so that messages have one order.
    public func post(_ new: NewConversationMessage) async throws(PostgresError) -> PostedMessage {
        let topics = try await db.query(
            """
            SELECT t.id, t.item_seq, t.member_count FROM topics t
            JOIN topic_members m ON m.topic_id = t.id AND m.user_id = \(new.senderID)
            WHERE t.name = \(new.conversation.text) FOR NO KEY UPDATE OF t
            """)
        guard let topic = topics.first else { return .notFound }
        let (id, number) = (try topic.decode("id", as: UUID.self), try topic.decode("item_seq", as: Int64.self) + 1)
        let posted = try await db.query(
            """
            INSERT INTO conversation_messages (topic_id, message_id, seq, sender_id, notification_id, fingerprint)
            VALUES (\(id), \(new.messageID), \(number), \(new.senderID), \(new.notificationID), \(new.fingerprints[0]))
            ON CONFLICT (topic_id, message_id) DO NOTHING
            RETURNING *
            """)
        guard let row = posted.first else { return try await repetition(of: new, in: id) }
        try await db.execute("UPDATE topics SET item_seq = \(number) WHERE id = \(id)")
        try await db.execute(
            "UPDATE topic_members SET read_seq = \(number) WHERE topic_id = \(id) AND user_id = \(new.senderID)")
        return .posted(try ConversationMessage(row: row), memberCount: try topic.decode("member_count"))
    }

    private func repetition(of new: NewConversationMessage, in topicID: UUID) async throws(PostgresError) -> PostedMessage {
        let rows = try await db.query(
            "SELECT * FROM conversation_messages WHERE topic_id = \(topicID) AND message_id = \(new.messageID)")
        let row = try rows.required()
        let message = try ConversationMessage(row: row)
        guard message.senderID == new.senderID, new.fingerprints.contains(message.fingerprint) else { return .idTaken }
        return .repeated(message)
    }

    /// Marks the contents of a topic as read by a member: the messages of a conversation, or the photos of an event.
    ///
    /// The mark never moves back: a late or repeated call changes nothing.
    ///
    /// - Parameter messageID: The last message that was read; nil for everything in the topic now.
    public func markRead(_ name: TopicName, by userID: UUID, upTo messageID: String? = nil) async throws(PostgresError) -> ReadMark {
        let rows = try await db.query(
            """
            UPDATE topic_members m
            SET read_seq = greatest(m.read_seq, CASE WHEN \(messageID)::text IS NULL THEN t.item_seq ELSE c.seq END)
            FROM topics t
            LEFT JOIN conversation_messages c ON c.topic_id = t.id AND c.message_id = \(messageID)
            WHERE t.name = \(name.text) AND m.topic_id = t.id AND m.user_id = \(userID)
            RETURNING t.item_seq - m.read_seq AS unread, c.seq AS seq
            """)
        guard let row = rows.first else { return .notFound }
        if messageID != nil, try row.decode("seq", as: Int64?.self) == nil { return .messageUnknown }
        // Since this statement began, others may have added to the topic and moved the mark.
        return .unread(max(0, Int(try row.decode("unread", as: Int64.self))))
    }

    /// Deletes at most `limit` messages older than ``ConversationMessage/lifetime``.
    ///
    /// - Returns: The number of deleted messages.
    @discardableResult
    public func deleteExpired(limit: Int) async throws(PostgresError) -> Int {
        try await db.execute(
            """
            DELETE FROM conversation_messages WHERE (topic_id, message_id) IN (
                SELECT topic_id, message_id FROM conversation_messages
                WHERE created_at <= now() - make_interval(secs => \(ConversationMessage.lifetime / .seconds(1)))
                ORDER BY created_at LIMIT \(limit) FOR UPDATE SKIP LOCKED)
            """)
    }
}
