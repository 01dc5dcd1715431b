public import FoundationEssentials
public import PostgresClient

extension NotificationRepository {
    /// Locks at most `limit` open notifications that expired more than `grace` ago until the transaction ends, the oldest first. Skips
    /// notifications that another transaction has locked.
    public func takeOverdue(grace: Duration, limit: Int) async throws(PostgresError) -> [NotificationRecord] {
        let rows = try await db.query(
            """
            SELECT \(unescaped: NotificationRecord.columns) FROM notifications
            WHERE state IN ('requested', 'addressed') AND expires_at < now() - make_interval(secs => \(grace / .seconds(1)))
            ORDER BY expires_at LIMIT \(limit) FOR UPDATE SKIP LOCKED
            """)
        return try rows.map(NotificationRecord.init(row:))
    }
}

extension DeliveryRepository {
    /// Expires the open deliveries of notifications, unless a sender holds them: `pending | sending → expired`. Call in the transaction
    /// that locked the notifications.
    ///
    /// - Parameter code: The reason, kept for the operator.
    /// - Returns: The number of deliveries that this call settled.
    @discardableResult
    public func expireOpen(notificationIDs: [UUID], code: DeliveryCode) async throws(PostgresError) -> Int {
        guard !notificationIDs.isEmpty else { return 0 }
        try await DeliveryPageRepository(db).split(notificationIDs: notificationIDs)
        let ended = try await db.execute(
            """
            UPDATE deliveries SET state = 'expired', code = \(code.rawValue), due_at = NULL, settled_at = now()
            WHERE id IN (
                SELECT id FROM deliveries
                WHERE notification_id = ANY(\(notificationIDs))
                  AND (state = 'pending' OR (state = 'sending' AND due_at <= now()))
                FOR UPDATE SKIP LOCKED)
            """)
        // Recounts instead of adding, so that a notification with a wrong count ends here at the latest.
        try await db.execute(
            """
            UPDATE notifications n SET (delivery_count, ended_deliveries) = (
                SELECT alone.made + paged.made, alone.ended + paged.ended
                FROM (SELECT count(*) AS made, count(settled_at) AS ended FROM deliveries WHERE notification_id = n.id) alone,
                     (SELECT coalesce(sum(cardinality(install_ids) - bit_count(detached)), 0) AS made,
                             coalesce(sum(bit_count(accepted)), 0) AS ended
                      FROM delivery_pages WHERE notification_id = n.id) paged)
            WHERE id = ANY(\(notificationIDs))
            """)
        return ended
    }
}
