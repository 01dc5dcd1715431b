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
    /// `pending | sending → expired`.
    ///
    /// - Parameter code: Kept with each, for the operator.
    /// - Returns: How many this call ended.
    @discardableResult
    public func expireOpen(notificationIDs: [UUID], code: String) async throws(PostgresError) -> Int {
        guard !notificationIDs.isEmpty else { return 0 }
        return try await db.execute(
            """
            UPDATE deliveries SET state = 'expired', code = \(code), lease_until = NULL, settled_at = now()
            WHERE notification_id = ANY(\(notificationIDs))
              AND ((state = 'pending' AND NOT \(unescaped: Self.isHeld)) OR (state = 'sending' AND lease_until <= now()))
            """)
    }
}
