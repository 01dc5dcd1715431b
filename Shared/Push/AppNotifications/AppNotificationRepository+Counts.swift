public import FoundationEssentials
public import PostgresClient

extension AppNotificationRepository {
    /// Counts the pushes and receipts of a notification, from its pages, its detached deliveries and its receipts.
    public func counts(of id: UUID) async throws(PostgresError) -> AppNotificationCounts {
        let query: PostgresQuery = """
            SELECT n.state, n.skip_reason, alone.*, paged.*
            FROM notifications n
            CROSS JOIN LATERAL (
                SELECT count(*) AS alone_made, count(*) FILTER (WHERE state IN ('pending', 'sending')) AS alone_pending,
                       count(*) FILTER (WHERE state = 'accepted') AS alone_accepted,
                       count(*) FILTER (WHERE state IN ('skipped', 'expired')) AS alone_skipped,
                       count(*) FILTER (WHERE state IN ('failed', 'dead')) AS alone_failed
                FROM deliveries WHERE notification_id = n.id) alone
            CROSS JOIN LATERAL (
                SELECT coalesce(sum(cardinality(install_ids) - bit_count(detached)), 0)::bigint AS paged_made,
                       coalesce(sum(bit_count(accepted)), 0)::bigint AS paged_accepted
                FROM delivery_pages WHERE notification_id = n.id) paged
            WHERE n.id = \(id)
            """
        var counts = AppNotificationCounts()
        guard let row = try await db.query(query.readOnly()).first else { return counts }
        let (pagedMade, pagedAccepted) = (try row.decode("paged_made", as: Int.self), try row.decode("paged_accepted", as: Int.self))
        counts.state = try row.decodeCase("state")
        counts.skipReason = try row.decode("skip_reason")
        counts.requested = try row.decode("alone_made", as: Int.self) + pagedMade
        counts.pending = try row.decode("alone_pending", as: Int.self) + pagedMade - pagedAccepted
        counts.accepted = try row.decode("alone_accepted", as: Int.self) + pagedAccepted
        counts.skipped = try row.decode("alone_skipped")
        counts.failed = try row.decode("alone_failed")
        let receipts: PostgresQuery = """
            SELECT event, count(*) AS reports FROM notification_receipts WHERE notification_id = \(id) GROUP BY event
            """
        for row in try await db.query(receipts.readOnly()) {
            counts.receipts[try row.decodeCase("event")] = try row.decode("reports")
        }
        return counts
    }
}
