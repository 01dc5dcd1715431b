internal import FoundationEssentials
internal import PostgresClient

extension DeliveryRepository {
    /// Notes for notifications that deliveries have ended: one for each row, by its `notification_id`. Belongs in the transaction
    /// that ended them, as late as can be: other writers about the same notification wait for its end.
    ///
    /// The rows are locked in the order of their ids, after those of the deliveries. Who has locked the notifications before
    /// (to erase them, or because they are overdue) passes over deliveries that are locked, so that nobody waits in a circle.
    ///
    /// - Returns: The notifications.
    @discardableResult
    func countEnded(_ rows: PostgresRows) async throws(PostgresError) -> Set<UUID> {
        var ended: [UUID: Int32] = [:]
        for row in rows { ended[try row.decode("notification_id"), default: 0] += 1 }
        guard !ended.isEmpty else { return [] }
        let ids = ended.keys.sorted()
        try await db.execute(
            """
            WITH held AS MATERIALIZED (
                SELECT id AS held_id, ended FROM unnest(\(ids), \(ids.map { ended[$0] ?? 0 })) AS e (ended_id, ended)
                CROSS JOIN LATERAL (SELECT id FROM notifications WHERE id = ended_id FOR UPDATE) n)
            UPDATE notifications SET ended_deliveries = ended_deliveries + ended FROM held WHERE id = held_id
            """)
        return Set(ids)
    }
}
