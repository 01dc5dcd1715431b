public import FoundationEssentials
public import PostgresClient
internal import WireFormat

/// Reads the data that explains a push to an operator: the notifications about a person, a message or a picture, the outcomes of their
/// deliveries, and the members of a topic who got no delivery. All statements only read.
public struct PushInquiryRepository: Sendable {
    let db: any PostgresQueryable

    /// Works on a client or inside a transaction.
    public init(_ db: some PostgresQueryable) {
        self.db = db
    }

    /// Returns the notifications with these dedupe keys.
    public func notifications(dedupeKeys: [String]) async throws(PostgresError) -> [NotificationRecord] {
        guard !dedupeKeys.isEmpty else { return [] }
        let query: PostgresQuery = """
            SELECT \(unescaped: NotificationRecord.columns) FROM notifications WHERE dedupe_key = ANY(\(dedupeKeys)) ORDER BY created_at, id
            """
        return try await db.query(query.readOnly()).map(NotificationRecord.init(row:))
    }

    /// The number of newest lists of apps, and of pushes to single installations, that are searched for a user's accepted pushes; and of
    /// the next notifications that wait for their time.
    static let maxSearched = 10_000

    /// Returns the newest notifications that were meant for a user, or for a session that was begun on one of the user's phones: by the
    /// user's id, by a topic that the user is in or has left, by one of the newest lists of apps, or by an installation of the user.
    ///
    /// - Parameters:
    ///   - since: The earliest time of the request.
    ///   - limit: The most notifications.
    public func notifications(
        about userID: UUID, since: Date, limit: Int
    ) async throws(PostgresError) -> [NotificationRecord] {
        let installs = try await installIDs(of: userID)
        let query: PostgresQuery = """
            SELECT \(unescaped: NotificationRecord.columns) FROM notifications
            WHERE created_at >= \(since) AND id IN (
                SELECT id FROM notifications WHERE recipient_type = 'user' AND recipient_id = \(userID.wireString)
                UNION SELECT n.id FROM sessions s JOIN notifications n ON n.recipient_type = 'session' AND n.recipient_id = s.id::text
                      WHERE s.install_id = ANY(\(installs))
                UNION SELECT n.id
                      FROM (SELECT topic_id FROM topic_members WHERE user_id = \(userID)
                            UNION SELECT topic_id FROM topic_leavers WHERE user_id = \(userID)) m
                      JOIN topics t ON t.id = m.topic_id
                      JOIN notifications n ON n.recipient_type = 'topic' AND n.recipient_id = t.name AND n.created_at >= \(since)
                UNION SELECT notification_id FROM deliveries WHERE install_id = ANY(\(installs))
                UNION SELECT n.id
                      FROM (SELECT id FROM notifications
                            WHERE recipient_type IN ('list', 'installation') AND created_at >= \(since)
                            ORDER BY created_at DESC LIMIT \(Self.maxSearched)) n
                      JOIN delivery_pages p ON p.notification_id = n.id
                      WHERE coalesce(\(userID) BETWEEN p.first_user_id AND p.last_user_id, true) AND p.install_ids && \(installs))
            ORDER BY created_at DESC, id DESC LIMIT \(limit)
            """
        return try await db.query(query.readOnly()).map(NotificationRecord.init(row:))
    }

    /// Returns the ids of installations that belong to a user, or did in the last 90 days, and of what their tokens have uploaded without
    /// a user.
    public func installIDs(of userID: UUID) async throws(PostgresError) -> [UUID] {
        let query: PostgresQuery = """
            SELECT id FROM push_installs WHERE user_id = \(userID)
            UNION SELECT install_id FROM push_install_audit WHERE old_user_id = \(userID)
            UNION SELECT install_id FROM push_install_audit WHERE new_user_id = \(userID)
            UNION SELECT u.id FROM push_installs i JOIN push_installs u ON u.value_hash = i.value_hash AND u.user_id IS NULL
                  WHERE i.user_id = \(userID)
            """
        return try await db.query(query.readOnly()).column("id", as: UUID.self)
    }

    /// Counts the deliveries of notifications by their state and code.
    ///
    /// - Parameter installIDs: The installations whose deliveries count; nil for all.
    public func outcomes(
        of notificationIDs: [UUID], to installIDs: [UUID]?
    ) async throws(PostgresError) -> [PushOutcome] {
        guard !notificationIDs.isEmpty else { return [] }
        let query: PostgresQuery = """
            SELECT notification_id, state, code, count(*) AS size, min(due_at) AS due_at, max(settled_at) AS settled_at
            FROM delivery_ledger
            WHERE notification_id = ANY(\(notificationIDs)) AND (\(installIDs)::uuid[] IS NULL OR install_id = ANY(\(installIDs)))
            GROUP BY notification_id, state, code ORDER BY notification_id, state, code
            """
        return try await db.query(query.readOnly()).map { row throws(PostgresError) in
            PushOutcome(
                notificationID: try row.decode("notification_id"), state: try row.decodeCase("state"), code: try row.decode("code"),
                count: Int(try row.decode("size", as: Int64.self)), dueAt: try row.decode("due_at"),
                settledAt: try row.decode("settled_at"))
        }
    }

    /// Counts the receipts of notifications by their event.
    ///
    /// - Parameter userID: The user whose receipts count; nil for all.
    public func receipts(of notificationIDs: [UUID], from userID: UUID?) async throws(PostgresError) -> [UUID: [Receipt.Event: Int]] {
        guard !notificationIDs.isEmpty else { return [:] }
        let query: PostgresQuery = """
            SELECT notification_id, event, count(*) AS size FROM notification_receipts
            WHERE notification_id = ANY(\(notificationIDs)) AND user_id = coalesce(\(userID), user_id)
            GROUP BY notification_id, event
            """
        var receipts: [UUID: [Receipt.Event: Int]] = [:]
        for row in try await db.query(query.readOnly()) {
            receipts[try row.decode("notification_id"), default: [:]][try row.decodeCase("event")] = Int(
                try row.decode("size", as: Int64.self))
        }
        return receipts
    }
}
