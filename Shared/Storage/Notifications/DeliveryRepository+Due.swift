public import FoundationEssentials
public import PostgresClient
public import WireFormat

extension DeliveryRepository {
    /// Claims due deliveries of a lane: deferred ones, and those that a sender has not settled within its lease:
    /// `pending | sending → sending`. Skips deliveries that another transaction has locked. Call in a transaction.
    ///
    /// Does not claim deliveries that were never attempted: their event brings them to a sender, or ``deferUnsent(for:code:limit:)``
    /// makes them due. A due page is claimed first, and as a whole.
    ///
    /// - Parameters:
    ///   - limit: The most deliveries to claim, ``DeliveryPage/maxMembers`` or more; those that are due longest come first.
    ///   - lease: The length of the lease.
    public func claimDue(lane: Lane, limit: Int, lease: Duration) async throws(PostgresError) -> [ClaimedDelivery] {
        let page = try await DeliveryPageRepository(db).claimDue(lane: lane, lease: lease)
        guard page.isEmpty else { return page }
        try await takeOver(lane)
        let query: PostgresQuery = """
            WITH due AS (
                SELECT id AS due_id, notification_id AS due_notification_id, install_id AS due_install_id
                FROM deliveries
                WHERE lane = \(lane.rawValue) AND due_at <= now()
                ORDER BY due_at LIMIT \(limit) FOR UPDATE SKIP LOCKED
            ), claimed AS (
                UPDATE deliveries d
                SET state = 'sending', attempt = d.attempt + 1,
                    due_at = now() + make_interval(secs => \(lease / .seconds(1))), generation = \(unescaped: Self.generation),
                    may_have_arrived = d.may_have_arrived OR d.state = 'sending'
                FROM due
                JOIN notifications n ON n.id = due_notification_id
                \(unescaped: Self.joins("due_install_id"))
                WHERE d.id = due_id
                RETURNING d.id, d.notification_id, d.install_id, d.attempt, d.may_have_arrived, NULL::uuid AS lease_id,
                          d.due_at AS lease_until, d.created_at, d.generation, \(unescaped: Self.skipCode("d.generation")) AS skip_code,
                          i.kind AS target_kind, i.installation_key, i.value_sealed, i.platform, i.user_id,
                          i.state = 'suspect' AS is_suspect
            )
            SELECT c.*, n.kind, n.recipient_type, n.recipient_id, n.lane, n.request_id, n.traceparent, n.expires_at,
                   CASE WHEN row_number() OVER (PARTITION BY n.id) = 1 THEN n.parameters::text END AS parameters
            FROM claimed c JOIN notifications n ON n.id = c.notification_id
            """
        return try ClaimedDelivery.read(try await db.query(query))
    }

    /// The most expired leases that one call ends.
    private static let maxLeases = 4

    /// Makes the deliveries of expired leases due at once. Counts an attempt, so that a push that crashes its sender is not retried
    /// for ever.
    private func takeOver(_ lane: Lane) async throws(PostgresError) {
        let rows = try await db.query(
            """
            DELETE FROM push_leases WHERE id IN (
                SELECT id FROM push_leases WHERE lane = \(lane.rawValue) AND lease_until <= now()
                ORDER BY lease_until LIMIT \(Self.maxLeases) FOR UPDATE SKIP LOCKED)
            RETURNING delivery_ids
            """)
        var ids: [UUID] = []
        for row in rows { ids += try row.decode("delivery_ids", as: [UUID].self) }
        guard !ids.isEmpty else { return }
        try await db.execute(
            """
            UPDATE deliveries SET code = 'sender_lost', attempt = attempt + 1, may_have_arrived = true, due_at = now()
            WHERE id = ANY(\(ids)) AND state = 'pending' AND due_at IS NULL
            """)
    }

    /// Returns the time until ``claimDue(lane:limit:lease:)`` finds a delivery in one of these lanes; negative when it would now, nil
    /// when no delivery there is deferred or being sent.
    public func timeUntilDue(lanes: [Lane]) async throws(PostgresError) -> Duration? {
        // One index lookup for each lane; min() over an IN list would read all waiting rows.
        let query: PostgresQuery = """
            SELECT extract(epoch FROM min(earliest.at) - now())::float8 AS seconds
            FROM unnest(\(lanes.map(\.rawValue))) AS l (lane), LATERAL (
                (SELECT due_at AS at FROM deliveries d WHERE d.lane = l.lane AND due_at IS NOT NULL ORDER BY due_at LIMIT 1)
                UNION ALL
                (SELECT due_at FROM delivery_pages p WHERE p.lane = l.lane AND due_at IS NOT NULL ORDER BY due_at LIMIT 1)
                UNION ALL
                (SELECT lease_until FROM push_leases p WHERE p.lane = l.lane ORDER BY lease_until LIMIT 1)) AS earliest
            """
        let seconds: Double? = try await db.query(query.readOnly()).first?.decode("seconds")
        return seconds.map { .seconds($0) }
    }

    /// Defers unclaimed deliveries, without counting an attempt.
    ///
    /// - Parameters:
    ///   - delay: The time from now until they are due.
    ///   - code: The reason, kept for the operator.
    public func deferUnclaimed(_ ids: [UUID], for delay: Duration, code: String) async throws(PostgresError) {
        guard !ids.isEmpty else { return }
        try await db.execute(
            """
            UPDATE deliveries SET due_at = now() + make_interval(secs => \(delay / .seconds(1))), code = \(code)
            WHERE id = ANY(\(ids)) AND state = 'pending' AND due_at IS NULL
            """)
    }
}
