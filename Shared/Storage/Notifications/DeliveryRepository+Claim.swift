public import FoundationEssentials
public import PostgresClient
public import WireFormat

extension DeliveryRepository {
    /// Claims the deliveries of a page that was never attempted: `pending → sending`. Call in a transaction.
    ///
    /// - Parameter lease: The length of the lease; after it, ``claimDue(lane:limit:lease:)`` gives the page to another sender.
    /// - Returns: The claimed deliveries, those not to be sent (``Suppression``) included; none when the page is claimed, deferred or
    ///   settled.
    public func claim(page id: UUID, lease: Duration) async throws(PostgresError) -> [ClaimedDelivery] {
        let query: PostgresQuery = """
            WITH page AS (
                UPDATE delivery_pages
                SET state = 'sending', attempt = attempt + 1, due_at = now() + make_interval(secs => \(lease / .seconds(1)))
                WHERE id = \(id) AND state = 'pending' AND attempt = 0 AND code IS NULL
                RETURNING *
            ), \(unescaped: Self.membersOfPage) \(unescaped: Self.details)
            """
        return try ClaimedDelivery.read(try await db.query(query))
    }

    /// Claims due deliveries of a lane: pages that were deferred, whose sender crashed, or whose event never reached a sender; and, when
    /// no page is due, deferred deliveries that have their own row, and those that a sender has not settled within its lease:
    /// `pending | sending → sending`. Skips what another transaction has locked. Call in a transaction.
    ///
    /// - Parameters:
    ///   - limit: The most deliveries to claim, ``DeliveryPage/maxMembers`` or more; those that are due longest come first.
    ///   - lease: The length of the lease.
    public func claimDue(lane: Lane, limit: Int, lease: Duration) async throws(PostgresError) -> [ClaimedDelivery] {
        let pages = try await claimDuePages(lane: lane, limit: limit, lease: lease)
        guard pages.isEmpty else { return pages }
        let query: PostgresQuery = """
            WITH due AS (
                SELECT id AS due_id FROM deliveries WHERE lane = \(lane.rawValue) AND due_at <= now()
                ORDER BY due_at LIMIT \(limit) FOR UPDATE SKIP LOCKED
            ), claimed AS (
                UPDATE deliveries d
                SET state = 'sending', attempt = d.attempt + 1, due_at = now() + make_interval(secs => \(lease / .seconds(1))),
                    may_have_arrived = d.may_have_arrived OR d.state = 'sending'
                FROM due WHERE d.id = due_id
                RETURNING d.*
            ), members AS (
                SELECT c.id, NULL::bigint AS number, c.notification_id, c.install_id, c.generation, c.attempt, c.may_have_arrived,
                       c.created_at, \(unescaped: Self.notificationColumns)
                FROM claimed c CROSS JOIN LATERAL (SELECT * FROM notifications WHERE id = c.notification_id OFFSET 0) n
            ) \(unescaped: Self.details)
            """
        return try ClaimedDelivery.read(try await db.query(query))
    }

    private func claimDuePages(lane: Lane, limit: Int, lease: Duration) async throws(PostgresError) -> [ClaimedDelivery] {
        let query: PostgresQuery = """
            WITH due AS MATERIALIZED (
                SELECT id AS due_id, due_at AS since, cardinality(install_ids) AS size
                FROM delivery_pages WHERE lane = \(lane.rawValue) AND due_at <= now()
                ORDER BY due_at LIMIT \(limit) FOR UPDATE SKIP LOCKED
            ), page AS (
                UPDATE delivery_pages
                SET state = 'sending', attempt = attempt + 1, due_at = now() + make_interval(secs => \(lease / .seconds(1))),
                    code = CASE WHEN state = 'sending' THEN 'sender_lost' ELSE coalesce(code, 'event_missing') END
                FROM (SELECT due_id, sum(size) OVER (ORDER BY since, due_id) AS total FROM due) counted
                WHERE id = due_id AND total <= \(limit)
                RETURNING delivery_pages.*
            ), \(unescaped: Self.membersOfPage) \(unescaped: Self.details)
            """
        return try ClaimedDelivery.read(try await db.query(query))
    }

    /// SQL of the open deliveries of the claimed pages. A page is claimed again as a whole only when its sender has crashed.
    private static let membersOfPage = """
        members AS (
            SELECT p.id, m.number, p.notification_id, m.install_id, m.generation, p.attempt, p.attempt > 1 AS may_have_arrived,
                   p.created_at, \(notificationColumns)
            FROM page p CROSS JOIN LATERAL (SELECT * FROM notifications WHERE id = p.notification_id OFFSET 0) n
            CROSS JOIN LATERAL unnest(p.install_ids, p.generations) WITH ORDINALITY AS m (install_id, generation, number)
            WHERE get_bit(p.accepted | p.detached, m.number::integer - 1) = 0)
        """

    /// SQL of what is needed to send the deliveries in `members`, or the reason not to. Of adjacent deliveries of a page only the first
    /// has the columns that all have in common, and of adjacent deliveries of a notification the first has the notification's; a lateral
    /// join with an OFFSET keeps the order. The generation to send to is the installation's current one, unless it has passed to another
    /// user.
    private static let details = """
        SELECT d.id, d.number, d.install_id,
               CASE WHEN d.recipient_type = 'session' OR d.generation >= i.bound_generation THEN coalesce(i.generation, d.generation)
                    ELSE d.generation END AS generation,
               \(Suppression.firstReason) AS suppression,
               i.kind AS target_kind, i.installation_key, i.value_sealed, i.platform, i.user_id, i.state = 'suspect' AS is_suspect,
               \(pageNames.map { "CASE WHEN d.begins_page THEN d.\($0) END AS \($0)" }.joined(separator: ", ")),
               \(notificationNames.map { "CASE WHEN d.begins_notification THEN d.\($0) END AS \($0)" }.joined(separator: ", ")),
               CASE WHEN d.begins_notification THEN d.parameters::text END AS parameters
        FROM (SELECT *, lag(id) OVER () IS DISTINCT FROM id AS begins_page,
                     lag(notification_id) OVER () IS DISTINCT FROM notification_id AS begins_notification FROM members) d
        LEFT JOIN LATERAL (
            SELECT * FROM push_installs
            WHERE id = d.install_id
              AND (state IN ('active', 'stale') OR (state = 'suspect' AND suspect_until <= now())) OFFSET 0) i ON true
        """

    private static let pageNames = ["attempt", "may_have_arrived", "created_at", "notification_id"]
    private static let notificationNames = ["kind", "recipient_type", "recipient_id", "lane", "request_id", "traceparent", "expires_at"]
    private static let notificationColumns = (notificationNames + ["parameters"]).map { "n.\($0)" }.joined(separator: ", ")

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
