internal import FoundationEssentials
public import PostgresClient

extension DeliveryRepository {
    /// Makes deliveries due that no sender has claimed within ``DeliveryPageRepository/eventAge``: the event that should have brought
    /// them to one is a dead letter, or still behind others.
    ///
    /// ``claimDue(lane:limit:lease:)`` takes them when `delay` is over. An event that comes at this very moment may claim them too,
    /// without a lock on their rows; with a delay that is longer than its lease, that sender has ended them by then. There is no
    /// index for this, which each insert and each end would pay for: only the deliveries of open notifications are looked at.
    ///
    /// - Parameters:
    ///   - delay: The time from now until they are due; longer than any sender's lease.
    ///   - code: Why, kept for the operator.
    ///   - limit: The most deliveries of one call.
    /// - Returns: How many were made due.
    public func putOffUnsent(for delay: Duration, code: String, limit: Int) async throws(PostgresError) -> Int {
        try await db.execute(
            """
            UPDATE deliveries SET due_at = now() + make_interval(secs => \(delay.inSeconds)), code = \(code)
            WHERE id IN (
                SELECT d.id FROM notifications n JOIN deliveries d ON d.notification_id = n.id
                WHERE n.state IN ('requested', 'addressed') AND n.expires_at > now()
                  AND n.created_at < now() - make_interval(secs => \(DeliveryPageRepository.eventAge.inSeconds))
                  AND d.state = 'pending' AND d.due_at IS NULL
                  AND d.created_at < now() - make_interval(secs => \(DeliveryPageRepository.eventAge.inSeconds))
                  AND d.id NOT IN (SELECT unnest(delivery_ids) FROM push_leases)
                LIMIT \(limit) FOR UPDATE OF d SKIP LOCKED)
              AND state = 'pending' AND due_at IS NULL
            """)
    }
}
