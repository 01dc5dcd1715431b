public import FoundationEssentials
public import PostgresClient

extension NotificationRepository {
    /// Takes notifications that expired more than `grace` ago and have not ended, at most `limit`; the oldest first. They are
    /// locked until the transaction ends, and those that somebody else has locked are passed over.
    public func takeOverdue(grace: Duration, limit: Int) async throws(PostgresError) -> [NotificationRecord] {
        let rows = try await db.query(
            """
            SELECT \(unescaped: NotificationRecord.columns) FROM notifications
            WHERE state IN ('requested', 'addressed') AND expires_at < now() - make_interval(secs => \(grace.inSeconds))
            ORDER BY expires_at LIMIT \(limit) FOR UPDATE SKIP LOCKED
            """)
        return try rows.map { row throws(PostgresError) in try NotificationRecord(row: row) }
    }
}

extension DeliveryRepository {
    /// Ends the open deliveries of notifications as expired, unless a sender has them just now:
    /// `pending | sending → expired`. Belongs in the transaction that took the notifications.
    ///
    /// - Parameter code: Kept with each, for the operator.
    /// - Returns: How many this call ended.
    @discardableResult
    public func expireOpen(notificationIDs: [UUID], code: String) async throws(PostgresError) -> Int {
        guard !notificationIDs.isEmpty else { return 0 }
        let ended = try await db.execute(
            """
            UPDATE deliveries SET state = 'expired', code = \(code), due_at = NULL, settled_at = now()
            WHERE id IN (
                SELECT id FROM deliveries
                WHERE notification_id = ANY(\(notificationIDs))
                  AND ((state = 'pending' AND NOT \(unescaped: Self.isHeld)) OR (state = 'sending' AND due_at <= now()))
                FOR UPDATE SKIP LOCKED)
            """)
        // Counted anew rather than on: whatever had the count go wrong, a notification ends here at the latest.
        try await db.execute(
            """
            UPDATE notifications n SET (delivery_count, ended_deliveries) = (
                SELECT count(*), count(d.settled_at) FROM deliveries d WHERE d.notification_id = n.id)
            WHERE id = ANY(\(notificationIDs))
            """)
        return ended
    }
}
