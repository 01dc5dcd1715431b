public import FoundationEssentials
public import PostgresClient
internal import WireFormat

/// The number of a notification's deliveries with the same state and code.
public struct PushOutcome: Sendable, Equatable {
    /// The notification.
    public let notificationID: UUID
    /// The state of the deliveries.
    public let state: Delivery.State
    /// Their code.
    public let code: String?
    /// Their number.
    public let count: Int
    /// The earliest due time of the deliveries.
    public let dueAt: Date?
    /// The time when the last delivery was settled.
    public let settledAt: Date?
}

/// A present or former member of a notification's topic who has no delivery of the notification.
public struct UnaddressedMember: Sendable {
    /// The user.
    public let userID: UUID
    /// Whether the user sent the message or photo of the notification; nil when the sender is not known.
    public let isSender: Bool?
    /// Since when the user blocks the sender; nil when the user does not block the sender now, or the sender is not known.
    public let blocksSenderSince: Date?
    /// When the user joined, or last returned: an earlier membership is not stored. Nil when the user has left.
    public let joinedAt: Date?
    /// When the user left, or declined an invitation; nil for a member.
    public let leftAt: Date?
    /// The user's installations, in any state.
    public let installs: [PushInstall]
}

extension PushInquiryRepository {
    /// The most members of a topic, and the most users who have left it, that are looked at without a user: each costs some index lookups.
    public static let maxMembers = 500

    /// Returns the members of a notification's topic, and the users who left it, that have no delivery of the notification.
    ///
    /// The sender is known for messages, and for other notifications until they end: then it is erased with the content.
    ///
    /// - Parameter userID: The user to return; nil for the first ``maxMembers`` by their ids.
    public func unaddressedMembers(
        of notification: NotificationRecord, _ userID: UUID? = nil
    ) async throws(PostgresError) -> [UnaddressedMember] {
        guard notification.recipient.type == .topic else { return [] }
        let messageID = ChatMessagePush.messageID(of: notification.dedupeKey)
        let (first, last) = (userID ?? .beforeAll, userID)
        let query: PostgresQuery = """
            SELECT m.user_id, m.joined_at, m.left_at, s.id = m.user_id AS is_sender,
                   (SELECT b.created_at FROM user_blocks b WHERE b.user_id = m.user_id AND b.blocked_id = s.id) AS blocked_at
            FROM topics t
            LEFT JOIN conversation_messages c ON c.topic_id = t.id AND c.message_id = \(messageID)
            CROSS JOIN LATERAL (SELECT coalesce(c.sender_id, \(notification.senderID)) AS id) s
            CROSS JOIN LATERAL (
                (SELECT user_id, joined_at, NULL::timestamptz AS left_at FROM topic_members
                 WHERE topic_id = t.id AND user_id >= \(first) AND user_id <= coalesce(\(last), user_id)
                 ORDER BY user_id LIMIT \(Self.maxMembers))
                UNION ALL
                (SELECT user_id, NULL, left_at FROM topic_leavers
                 WHERE topic_id = t.id AND user_id >= \(first) AND user_id <= coalesce(\(last), user_id)
                 ORDER BY user_id LIMIT \(Self.maxMembers))) m
            CROSS JOIN LATERAL (
                SELECT array_agg(id) AS ids FROM (
                    SELECT id FROM push_installs WHERE user_id = m.user_id
                    UNION SELECT install_id FROM push_install_audit WHERE old_user_id = m.user_id
                    UNION SELECT install_id FROM push_install_audit WHERE new_user_id = m.user_id) i) phones
            WHERE t.name = \(notification.recipient.id) AND t.id = coalesce(\(notification.topicID), t.id)
              AND NOT EXISTS (
                SELECT FROM deliveries d WHERE d.notification_id = \(notification.id) AND d.install_id = ANY(phones.ids))
              AND NOT EXISTS (
                SELECT FROM delivery_pages p
                WHERE p.notification_id = \(notification.id) AND coalesce(m.user_id BETWEEN p.first_user_id AND p.last_user_id, true)
                  AND p.install_ids && phones.ids)
            ORDER BY m.user_id
            """
        let rows = try await db.query(query.readOnly())
        let installs = try await PushInstallRepository(db).find(userIDs: try rows.column("user_id", as: UUID.self))
        let byUser = Dictionary(grouping: installs, by: \.userID)
        return try rows.map { row throws(PostgresError) in
            let id: UUID = try row.decode("user_id")
            return UnaddressedMember(
                userID: id, isSender: try row.decode("is_sender"), blocksSenderSince: try row.decode("blocked_at"),
                joinedAt: try row.decode("joined_at"), leftAt: try row.decode("left_at"), installs: byUser[id] ?? [])
        }
    }

    /// Returns whether a notification's topic has more members than ``unaddressedMembers(of:_:)`` looks at without a user.
    public func hasMoreMembers(than most: Int = maxMembers, _ notification: NotificationRecord) async throws(PostgresError) -> Bool {
        guard notification.recipient.type == .topic else { return false }
        let query: PostgresQuery = "SELECT id FROM topics WHERE name = \(notification.recipient.id) AND member_count > \(most)"
        return try await !db.query(query.readOnly()).isEmpty
    }
}
