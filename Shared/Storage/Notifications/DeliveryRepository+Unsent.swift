internal import FoundationEssentials
public import PostgresClient

extension DeliveryRepository {
    /// Defers deliveries that no sender has claimed within ``DeliveryPageRepository/eventAge``: their event is a dead letter, or still
    /// in a backlog.
    ///
    /// ``claimDue(lane:limit:lease:)`` claims them after `delay`. A sender that handles their event at the same time may claim them too,
    /// without a lock on their rows; because the delay is longer than its lease, it has settled them by then. There is no index for
    /// this query, which would slow down each insert and settlement: it reads only the deliveries of open notifications.
    ///
    /// - Parameters:
    ///   - delay: The time from now until they are due; longer than any sender's lease.
    ///   - code: The reason, kept for the operator.
    ///   - limit: The most deliveries of one call.
    /// - Returns: The number of deferred deliveries.
    public func deferUnsent(for delay: Duration, code: String, limit: Int) async throws(PostgresError) -> Int {
        try await db.execute(
            """
            UPDATE deliveries SET due_at = now() + make_interval(secs => \(delay / .seconds(1))), code = \(code)
            WHERE id IN (
                SELECT d.id FROM notifications n JOIN deliveries d ON d.notification_id = n.id
                WHERE n.state IN ('requested', 'addressed') AND n.expires_at > now()
                  AND n.created_at < now() - make_interval(secs => \(DeliveryPageRepository.eventAge / .seconds(1)))
                  AND d.state = 'pending' AND d.due_at IS NULL
                  AND d.created_at < now() - make_interval(secs => \(DeliveryPageRepository.eventAge / .seconds(1)))
                  AND d.id NOT IN (SELECT unnest(delivery_ids) FROM push_leases)
                LIMIT \(limit) FOR UPDATE OF d SKIP LOCKED)
              AND state = 'pending' AND due_at IS NULL
            """)
    }
}
