internal import FoundationEssentials
internal import PostgresClient

extension DeliveryRepository {
    /// Notes for notifications how many deliveries of each have ended. Belongs in the transaction that ended them, as late as can
    /// be: other writers about the same notification wait for its end.
    ///
    /// The rows are locked in the order of their ids, after those of the deliveries. Who has locked the notifications before
    /// (to erase them, or because they are overdue) passes over deliveries that are locked, so that nobody waits in a circle.
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

    /// How many rows there are of each notification.
    static func counts(_ rows: PostgresRows) throws(PostgresError) -> [UUID: Int32] {
        var counts: [UUID: Int32] = [:]
        for row in rows { counts[try row.decode("notification_id"), default: 0] += 1 }
        return counts
    }
}
