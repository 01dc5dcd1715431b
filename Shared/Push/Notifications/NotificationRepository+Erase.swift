public import FoundationEssentials
public import PostgresClient
internal import WireFormat

extension NotificationRepository {
    /// Erases the content of a user's open notifications: those for the user, for one of the installations or for one of the user's
    /// sessions, and those that name the user as the sender or as the account.
    ///
    /// - Parameter installIDs: The user's installations.
    /// - Returns: The ids of the notifications.
    public func eraseOpen(of userID: UUID, installIDs: [UUID]) async throws(PostgresError) -> [UUID] {
        let names = ([userID] + installIDs).map { $0.wireString }
        let rows = try await db.query(
            """
            UPDATE notifications SET \(unescaped: Self.erased)
            WHERE id IN (SELECT id FROM notifications WHERE id IN (
                SELECT id FROM notifications
                WHERE state IN ('requested', 'addressed') AND recipient_type IN ('user', 'installation')
                  AND recipient_id = ANY(\(names))
                UNION ALL
                SELECT id FROM notifications
                WHERE state IN ('requested', 'addressed') AND \(userID) IN (sender_id, account_id)
                UNION ALL
                SELECT n.id FROM notifications n JOIN sessions s
                    ON s.id = CASE WHEN n.recipient_type = 'session' THEN n.recipient_id::uuid END
                WHERE n.state IN ('requested', 'addressed') AND n.recipient_type = 'session' AND s.user_id = \(userID))
                ORDER BY id FOR UPDATE)
            RETURNING id
            """)
        return try rows.column("id")
    }
}

extension DeliveryRepository {
    /// Skips unclaimed deliveries of notifications: `pending → skipped`. Ignores deliveries that another transaction has locked: a
    /// caller that holds locks on the notifications must not wait for their deliveries.
    ///
    /// - Returns: The number of deliveries that this call settled.
    @discardableResult
    public func withdraw(notificationIDs: [UUID], code: DeliveryCode) async throws(PostgresError) -> Int {
        guard !notificationIDs.isEmpty else { return 0 }
        try await DeliveryPageRepository(db).split(notificationIDs: notificationIDs)
        let rows = try await db.query(
            """
            UPDATE deliveries SET state = 'skipped', code = \(code.rawValue), due_at = NULL, settled_at = now()
            WHERE id IN (
                SELECT id FROM deliveries WHERE notification_id = ANY(\(notificationIDs)) AND state = 'pending'
                FOR UPDATE SKIP LOCKED)
            RETURNING notification_id
            """)
        try await countEnded(Self.counts(rows))
        return rows.count
    }

    /// Deletes at most `limit` deliveries of notifications that were created more than `age` ago: one notification may have a
    /// hundred thousand.
    ///
    /// - Returns: The number of deleted deliveries.
    @discardableResult
    public func deleteOlder(than age: Duration, limit: Int) async throws(PostgresError) -> Int {
        try await db.execute(
            """
            DELETE FROM deliveries WHERE id IN (
                SELECT d.id FROM (
                    SELECT id FROM notifications WHERE created_at < now() - make_interval(secs => \(age / .seconds(1)))
                    ORDER BY created_at LIMIT \(limit)) n
                JOIN deliveries d ON d.notification_id = n.id
                LIMIT \(limit) FOR UPDATE OF d SKIP LOCKED)
            """)
    }
}
