public import FoundationEssentials
public import PostgresClient
public import WireFormat

extension DeliveryRepository {
    /// Takes deliveries of a lane that nobody else will: those that were put off and are due, and those whose sender has
    /// not settled them within its lease: `pending | sending → sending`. What another caller is taking at this moment is left
    /// out. Belongs in a transaction.
    ///
    /// Deliveries that were never tried are not among them: the event that addressed them brings them to a sender, or
    /// ``putOffUnsent(for:code:limit:)`` makes them due. A page that is due goes first, and as a whole.
    ///
    /// - Parameters:
    ///   - limit: The most deliveries to take, ``DeliveryPage/membersMax`` or more; those that are due the longest come first.
    ///   - lease: How long the caller has.
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
                    due_at = now() + make_interval(secs => \(lease.inSeconds)), generation = \(unescaped: Self.generation),
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

    /// How many leases of senders that died are ended at once.
    private static let leasesMax = 4

    /// Makes what senders had who died due at once: they count as an attempt, so that a push that kills its sender ends.
    private func takeOver(_ lane: Lane) async throws(PostgresError) {
        let rows = try await db.query(
            """
            DELETE FROM push_leases WHERE id IN (
                SELECT id FROM push_leases WHERE lane = \(lane.rawValue) AND lease_until <= now()
                ORDER BY lease_until LIMIT \(Self.leasesMax) FOR UPDATE SKIP LOCKED)
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

    /// Returns how long it is until ``claimDue(lane:limit:lease:)`` finds something in one of these lanes; negative when it
    /// would now, nil when nothing there is put off or being sent.
    public func timeUntilDue(lanes: [Lane]) async throws(PostgresError) -> Duration? {
        // One look into an index for each lane; min() over an IN list would read all that waits.
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

    /// Puts deliveries off that nobody has claimed, at no cost of their attempts; whoever finds them due sends them.
    ///
    /// - Parameters:
    ///   - delay: The time from now until they are due.
    ///   - code: Why, kept for the operator.
    public func putOff(_ ids: [UUID], for delay: Duration, code: String) async throws(PostgresError) {
        guard !ids.isEmpty else { return }
        try await db.execute(
            """
            UPDATE deliveries SET due_at = now() + make_interval(secs => \(delay.inSeconds)), code = \(code)
            WHERE id = ANY(\(ids)) AND state = 'pending' AND due_at IS NULL
            """)
    }
}
