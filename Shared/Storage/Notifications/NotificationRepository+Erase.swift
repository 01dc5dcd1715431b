public import FoundationEssentials
public import PostgresClient

extension NotificationRepository {
    /// Empties the parameters of notifications that have not ended and that are for a user, or say what the user wrote: for the user
    /// as such, for one of the installations, or for the device of a face session of the user; and messages to conversations.
    ///
    /// - Parameter installIDs: The user's installations.
    /// - Returns: The notifications.
    public func eraseOpen(of userID: UUID, installIDs: [UUID]) async throws(PostgresError) -> [UUID] {
        let names = ([userID] + installIDs).map { $0.uuidString.lowercased() }
        let rows = try await db.query(
            """
            UPDATE notifications SET parameters = '{}'
            WHERE id IN (SELECT id FROM notifications WHERE id IN (
                SELECT id FROM notifications
                WHERE state IN ('requested', 'addressed') AND recipient_type IN ('user', 'installation')
                  AND recipient_id = ANY(\(names))
                UNION ALL
                SELECT id FROM notifications
                WHERE state IN ('requested', 'addressed') AND recipient_type = 'topic'
                  AND parameters->>'sender_id' = \(userID.uuidString.lowercased())
                UNION ALL
                SELECT n.id FROM notifications n JOIN sessions s
                    ON s.id = CASE WHEN n.recipient_type = 'session' THEN n.recipient_id::uuid END
                WHERE n.state IN ('requested', 'addressed') AND n.recipient_type = 'session' AND s.user_id = \(userID))
                ORDER BY id FOR UPDATE)
            RETURNING id
            """)
        return try rows.map { row throws(PostgresError) in try row.decode("id") }
    }
}

extension DeliveryRepository {
    /// Ends the deliveries of notifications that no sender has yet: `pending → skipped`. What somebody else is just changing is
    /// left to it: who has locked the notifications already must not wait for their deliveries.
    ///
    /// - Returns: How many this call ended.
    @discardableResult
    public func withdraw(notificationIDs: [UUID], code: String) async throws(PostgresError) -> Int {
        guard !notificationIDs.isEmpty else { return 0 }
        try await DeliveryPageRepository(db).takeApart(notificationIDs: notificationIDs)
        let rows = try await db.query(
            """
            UPDATE deliveries SET state = 'skipped', code = \(code), due_at = NULL, settled_at = now()
            WHERE id IN (
                SELECT id FROM deliveries WHERE notification_id = ANY(\(notificationIDs)) AND state = 'pending'
                  AND NOT \(unescaped: Self.isHeld)
                FOR UPDATE SKIP LOCKED)
            RETURNING notification_id
            """)
        try await countEnded(Self.counts(rows))
        return rows.count
    }

    /// Deletes deliveries of notifications that were made more than `age` ago, at most `limit`: one notification may have a
    /// hundred thousand.
    ///
    /// - Returns: How many were deleted.
    @discardableResult
    public func deleteOlder(than age: Duration, limit: Int) async throws(PostgresError) -> Int {
        try await db.execute(
            """
            DELETE FROM deliveries WHERE id IN (
                SELECT d.id FROM (
                    SELECT id FROM notifications WHERE created_at < now() - make_interval(secs => \(age.inSeconds))
                    ORDER BY created_at LIMIT \(limit)) n
                JOIN deliveries d ON d.notification_id = n.id
                LIMIT \(limit) FOR UPDATE OF d SKIP LOCKED)
            """)
    }
}
