public import FoundationEssentials
public import PostgresClient
public import WireFormat

extension DeliveryRepository {
    /// Claims the deliveries of a page that was never attempted: `pending → sending`. Call in a transaction.
    ///
    /// - Parameter lease: The length of the lease; after it, ``claimDue(lane:limit:lease:)`` gives the page to another sender.
    /// - Returns: The claimed deliveries, including the suppressed ones (``Suppression``); empty when the page is claimed, deferred or
    ///   settled.
    public func claim(page id: UUID, lease: Duration) async throws(PostgresError) -> [ClaimedDelivery] {
        let claimed = try await db.query(
            """
            WITH claimed AS (
                UPDATE delivery_pages
                SET state = 'sending', attempt = attempt + 1, due_at = now() + make_interval(secs => \(lease / .seconds(1)))
                WHERE id = \(id) AND state = 'pending' AND attempt = 0 AND code IS NULL
                RETURNING \(unescaped: Self.claimedPageColumns)
            ) \(unescaped: Self.claims)
            """)
        return try await read(Self.deliveriesOfPages, of: claimed)
    }

    /// Claims due deliveries of a lane: pages that were deferred, whose sender crashed, or whose event never reached a sender; and, when
    /// no page is due, deferred deliveries that have their own row, and those that a sender has not settled within its lease: `pending |
    /// sending → sending`. Skips rows that another transaction has locked. Call in a transaction.
    ///
    /// - Parameters:
    ///   - limit: The most deliveries to claim, ``DeliveryPage/maxMembers`` or more; those that are due longest are claimed first.
    ///   - lease: The length of the lease.
    public func claimDue(lane: Lane, limit: Int, lease: Duration) async throws(PostgresError) -> [ClaimedDelivery] {
        let pages = try await claimDuePages(lane: lane, limit: limit, lease: lease)
        guard pages.isEmpty else { return try await read(Self.deliveriesOfPages, of: pages) }
        let claimed = try await db.query(
            """
            WITH due AS (
                SELECT id AS due_id FROM deliveries WHERE lane = \(lane.rawValue) AND due_at <= now()
                ORDER BY due_at LIMIT \(limit) FOR UPDATE SKIP LOCKED
            ), claimed AS (
                UPDATE deliveries d
                SET state = 'sending', attempt = d.attempt + 1, due_at = now() + make_interval(secs => \(lease / .seconds(1))),
                    may_have_arrived = d.may_have_arrived OR d.state = 'sending'
                FROM due WHERE d.id = due_id
                RETURNING d.id, d.notification_id, d.attempt, d.may_have_arrived, d.created_at
            ) \(unescaped: Self.claims)
            """)
        return try await read(Self.deliveriesAlone, of: claimed)
    }

    private func claimDuePages(lane: Lane, limit: Int, lease: Duration) async throws(PostgresError) -> PostgresRows {
        try await db.query(
            """
            WITH due AS MATERIALIZED (
                SELECT id AS due_id, due_at AS since, cardinality(install_ids) AS size
                FROM delivery_pages WHERE lane = \(lane.rawValue) AND due_at <= now()
                ORDER BY due_at LIMIT \(limit) FOR UPDATE SKIP LOCKED
            ), claimed AS (
                UPDATE delivery_pages
                SET state = 'sending', attempt = attempt + 1, due_at = now() + make_interval(secs => \(lease / .seconds(1))),
                    code = CASE WHEN state = 'sending' THEN \(DeliveryCode.senderLost.rawValue)
                                ELSE coalesce(code, \(DeliveryCode.eventMissing.rawValue)) END
                FROM (SELECT due_id, sum(size) OVER (ORDER BY since, due_id) AS total FROM due) counted
                WHERE id = due_id AND total <= \(limit)
                RETURNING \(unescaped: Self.claimedPageColumns)
            ) \(unescaped: Self.claims)
            """)
    }

    /// A page is claimed again as a whole only when its sender has crashed.
    private static let claimedPageColumns = "id, notification_id, attempt, attempt > 1 AS may_have_arrived, created_at"

    /// SQL of the claimed rows; the first row of each notification has the columns of the notification. The lateral join with an OFFSET is
    /// an index lookup.
    private static let claims = """
        SELECT c.id, c.notification_id, c.attempt, c.may_have_arrived, c.created_at, n.kind, n.recipient_type, n.recipient_id, n.lane,
               n.request_id, n.traceparent, n.expires_at, n.content
        FROM (SELECT *, row_number() OVER (PARTITION BY notification_id) AS place FROM claimed) c
        LEFT JOIN LATERAL (SELECT * FROM notifications WHERE id = c.notification_id AND c.place = 1 OFFSET 0) n ON true
        ORDER BY c.notification_id, c.place
        """

    // MARK: The deliveries of claimed rows

    /// SQL of the open deliveries of pages, up to the comparison with the ids of the pages.
    private static let deliveriesOfPages = claimedQuery(
        """
        delivery_pages p CROSS JOIN LATERAL (SELECT * FROM notifications WHERE id = p.notification_id OFFSET 0) n
        CROSS JOIN LATERAL (
            SELECT p.id, p.created_at, m.install_id, m.generation, m.number
            FROM unnest(p.install_ids, p.generations) WITH ORDINALITY AS m (install_id, generation, number)
            WHERE get_bit(p.accepted | p.detached, m.number::integer - 1) = 0) d
        """, claimedID: "p.id")

    /// SQL of deliveries with rows of their own, up to the comparison with their ids.
    private static let deliveriesAlone = claimedQuery(
        """
        (SELECT *, NULL::bigint AS number FROM deliveries) d
        CROSS JOIN LATERAL (SELECT * FROM notifications WHERE id = d.notification_id OFFSET 0) n
        """, claimedID: "d.id")

    /// Makes the SQL for the data that a sender needs, or for the reason not to send. The generation to send to is the installation's
    /// current one, unless it has passed to another user. Bulk pushes are not addressed to stale installations; an installation that became
    /// stale later still gets its push.
    ///
    /// - Parameter deliveries: SQL of the deliveries, `d`, and their notifications, `n`.
    private static func claimedQuery(_ deliveries: String, claimedID: String) -> String {
        """
        SELECT d.id, d.number, d.install_id,
               CASE WHEN n.recipient_type = 'session' OR d.generation >= i.bound_generation THEN coalesce(i.generation, d.generation)
                    ELSE d.generation END AS generation,
               \(Suppression.firstReason) AS suppression,
               i.kind AS target_kind, i.installation_key, i.value_sealed, i.platform, i.user_id, i.state = 'suspect' AS is_suspect
        FROM \(deliveries) LEFT JOIN push_installs i ON i.id = d.install_id AND \(InstallAddress.isReachable(on: .normal))
        WHERE \(claimedID)
        """
    }

    /// Reads the open deliveries of claimed rows. It is a second statement, because the first one reads the common data of the rows once.
    private func read(_ deliveries: String, of claimed: PostgresRows) async throws(PostgresError) -> [ClaimedDelivery] {
        let ids = try claimed.column("id", as: UUID.self)
        guard let first = ids.first else { return [] }
        // The planner takes an array for ten ids; a claim by an event has one.
        let query: PostgresQuery =
            ids.count == 1 ? "\(unescaped: deliveries) = \(first)" : "\(unescaped: deliveries) = ANY(\(ids))"
        return try ClaimedDelivery.read(try await db.query(query), of: claimed)
    }

    /// Defers a page that was never attempted, without counting an attempt.
    ///
    /// - Parameters:
    ///   - delay: The time from now until it is due.
    ///   - code: The reason, kept for the operator.
    public func deferUnclaimed(page id: UUID, for delay: Duration, code: String) async throws(PostgresError) {
        try await db.execute(
            """
            UPDATE delivery_pages SET due_at = now() + make_interval(secs => \(delay / .seconds(1))), code = \(code)
            WHERE id = \(id) AND state = 'pending' AND attempt = 0 AND code IS NULL
            """)
    }

    /// Returns the time until ``claimDue(lane:limit:lease:)`` finds a delivery in one of these lanes; negative when it would now, nil
    /// when no delivery is open there.
    public func timeUntilDue(lanes: [Lane]) async throws(PostgresError) -> Duration? {
        // One index lookup for each lane; min() over an IN list would read all waiting rows.
        let query: PostgresQuery = """
            SELECT extract(epoch FROM min(earliest.at) - now())::float8 AS seconds
            FROM unnest(\(lanes.map(\.rawValue))) AS l (lane), LATERAL (
                (SELECT due_at AS at FROM deliveries d WHERE d.lane = l.lane AND due_at IS NOT NULL ORDER BY due_at LIMIT 1)
                UNION ALL
                (SELECT due_at FROM delivery_pages p WHERE p.lane = l.lane AND due_at IS NOT NULL ORDER BY due_at LIMIT 1)
            ) AS earliest
            """
        let seconds: Double? = try await db.query(query.readOnly()).first?.decode("seconds")
        return seconds.map { .seconds($0) }
    }
}
