internal import FoundationEssentials
internal import PostgresClient

extension DeliveryRepository {
    /// Adds the numbers of ended deliveries to their notifications. Call in the transaction that ended them, as late as possible:
    /// other writers of the same notification wait for its end.
    ///
    /// Locks the notifications in the order of their ids, after the deliveries. Transactions that lock notifications first (to erase
    /// them, or because they are overdue) skip locked deliveries, so that there is no deadlock.
    func countEnded(_ ended: [UUID: Int32]) async throws(PostgresError) {
        guard !ended.isEmpty else { return }
        let ids = ended.keys.sorted()
        try await db.enqueue(
            """
            WITH held AS MATERIALIZED (
                SELECT id AS held_id, ended FROM unnest(\(ids), \(ids.map { ended[$0] ?? 0 })) AS e (ended_id, ended)
                CROSS JOIN LATERAL (SELECT id FROM notifications WHERE id = ended_id FOR UPDATE) n)
            UPDATE notifications SET ended_deliveries = ended_deliveries + ended FROM held WHERE id = held_id
            """)
    }

    /// Counts the rows of each notification.
    static func counts(_ rows: PostgresRows) throws(PostgresError) -> [UUID: Int32] {
        var counts: [UUID: Int32] = [:]
        for row in rows { counts[try row.decode("notification_id"), default: 0] += 1 }
        return counts
    }
}
