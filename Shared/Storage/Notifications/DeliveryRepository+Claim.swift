public import FoundationEssentials
public import PostgresClient
public import WireFormat

extension DeliveryRepository {
    /// Takes deliveries to send them: `pending → sending`, or again from a sender whose lease has ended.
    ///
    /// What must not be sent any more is found out in the same query, as late as can be. A push for a session goes to the
    /// device that started it, whoever signs in there meanwhile; any other push loses its target when the installation
    /// has passed to another user since it was addressed. A push about an image job loses it when the job is deleted or
    /// expired, and a chat push when the conversation is on the screen of that very installation.
    ///
    /// - Parameters:
    ///   - ids: The deliveries; those that are not due, are held by another sender or have ended are left out.
    ///   - lease: How long the caller has; after that another may take them.
    /// - Returns: The deliveries that the caller now holds.
    public func claim(_ ids: [UUID], lease: Duration) async throws(PostgresError) -> [ClaimedDelivery] {
        guard !ids.isEmpty else { return [] }
        return try await claim(
            """
            id = ANY($2) AND ((state = 'pending' AND next_at <= now()) OR (state = 'sending' AND lease_until <= now()))
            ORDER BY id FOR UPDATE
            """, lease: lease) { $0.bind(ids) }
    }

    /// Takes deliveries of a lane that nobody else will: those that were put off and are due, and those whose sender has
    /// not settled them within its lease. What another caller is taking at this moment is left out.
    ///
    /// Deliveries that were never tried are not among them: the event that addressed them brings them to a sender.
    ///
    /// - Parameters:
    ///   - limit: The most deliveries to take; those that are due the longest come first.
    ///   - lease: How long the caller has.
    public func claimDue(lane: Lane, limit: Int, lease: Duration) async throws(PostgresError) -> [ClaimedDelivery] {
        try await claim(
            """
            lane = $2 AND next_at <= now() AND ((state = 'sending' AND lease_until <= now())
                                                OR (state = 'pending' AND code IS NOT NULL))
            ORDER BY next_at LIMIT $3 FOR UPDATE SKIP LOCKED
            """, lease: lease
        ) { query in
            query.bind(lane.rawValue)
            query.bind(limit)
        }
    }

    /// Claims what `choice` selects, whose arguments `bind` adds after the lease.
    private func claim(
        _ choice: String, lease: Duration, bind: (inout PostgresQuery) -> Void
    ) async throws(PostgresError) -> [ClaimedDelivery] {
        var query = PostgresQuery(
            unescaped: """
                WITH due AS (
                    SELECT id AS due_id, notification_id AS due_notification_id, install_id AS due_install_id
                    FROM deliveries WHERE \(choice)
                ), claimed AS (
                    UPDATE deliveries d
                    SET state = 'sending', attempt = d.attempt + 1, lease_until = now() + make_interval(secs => $1),
                        next_at = now() + make_interval(secs => $1),
                        generation = CASE WHEN n.recipient_type = 'session' THEN coalesce(i.generation, d.generation)
                                          ELSE d.generation END
                    FROM due
                    JOIN notifications n ON n.id = due_notification_id
                    LEFT JOIN push_installs i ON i.id = due_install_id
                        AND (i.state IN ('active', 'stale') OR (i.state = 'suspect' AND i.suspect_until <= now()))
                    LEFT JOIN image_jobs j ON j.id = \(Self.jobID) AND j.deleted_at IS NULL AND j.expires_at > now()
                    WHERE d.id = due_id
                    RETURNING d.id, d.notification_id, d.install_id, d.attempt, d.lease_until, d.created_at,
                              \(Self.skipCode) AS skip_code, i.kind AS target_kind, i.installation_key, i.value_sealed,
                              i.platform, i.user_id
                )
                SELECT c.*, n.kind, n.recipient_type, n.recipient_id, n.lane, n.expires_at,
                       CASE WHEN row_number() OVER (PARTITION BY n.id) = 1 THEN n.parameters::text END AS parameters
                FROM claimed c JOIN notifications n ON n.id = c.notification_id
                """)
        query.bind(lease.inSeconds)
        bind(&query)
        return try ClaimedDelivery.read(try await db.query(query))
    }

    /// Why a delivery is not to be sent; null when it is.
    private static let skipCode = """
        CASE WHEN n.expires_at <= now() THEN 'expired'
             WHEN n.kind IN ('job_completed', 'job_failed') AND j.id IS NULL THEN 'job_gone'
             WHEN d.generation IS DISTINCT FROM i.generation THEN 'no_installation'
             WHEN n.kind = 'chat_message' AND EXISTS (
                 SELECT FROM push_presence s
                 WHERE s.installation_key = i.installation_key AND s.user_id = i.user_id AND s.lease_until > now()
                   AND s.topic_id::text = n.parameters->>'topic_id') THEN 'presence' END
        """

    /// The job a notification is about; null for other kinds, and for what is no id.
    private static let jobID = """
        CASE WHEN n.kind IN ('job_completed', 'job_failed')
                  AND n.parameters->>'job_id' ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
             THEN (n.parameters->>'job_id')::uuid END
        """

    /// Returns how long it is until ``claimDue(lane:limit:lease:)`` finds something in one of these lanes; negative when it
    /// would now, nil when nothing there is put off or being sent.
    public func timeUntilDue(lanes: [Lane]) async throws(PostgresError) -> Duration? {
        // One look into the index for each lane; min() over an IN list would read all that waits.
        let query: PostgresQuery = """
            SELECT extract(epoch FROM min(earliest.next_at) - now())::float8 AS seconds
            FROM unnest(\(lanes.map(\.rawValue))) AS l (lane), LATERAL (
                SELECT next_at FROM deliveries d
                WHERE d.lane = l.lane AND (state = 'sending' OR (state = 'pending' AND code IS NOT NULL))
                ORDER BY next_at LIMIT 1) AS earliest
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
            UPDATE deliveries d SET next_at = now() + make_interval(secs => \(delay.inSeconds)), code = \(code)
            FROM (SELECT id AS held_id FROM deliveries WHERE id = ANY(\(ids)) AND state = 'pending' AND next_at <= now()
                  ORDER BY id FOR UPDATE) AS held
            WHERE d.id = held_id AND d.state = 'pending'
            """)
    }
}
