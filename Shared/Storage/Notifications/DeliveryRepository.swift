public import FoundationEssentials
public import PostgresClient
internal import WireFormat

/// Reads and writes `deliveries`. Every change of state is a compare-and-set, and a terminal state is final.
public struct DeliveryRepository: Sendable {
    let db: any PostgresQueryable

    /// Works on a client or inside a transaction.
    public init(_ db: some PostgresQueryable) {
        self.db = db
    }

    /// Inserts deliveries in the state `pending`; those of a (notification, installation) that exists are left out.
    ///
    /// - Returns: The ids of the new ones.
    public func insertPending(_ batch: [NewDelivery]) async throws(PostgresError) -> Set<UUID> {
        guard !batch.isEmpty else { return [] }
        return try ids(
            await db.query(
                """
                INSERT INTO deliveries (id, notification_id, install_id, generation)
                SELECT id, notification_id, install_id, generation
                FROM unnest(\(batch.map(\.id)), \(batch.map(\.notificationID)), \(batch.map(\.installID)),
                            \(batch.map(\.generation))) AS d (id, notification_id, install_id, generation)
                ORDER BY notification_id, install_id
                ON CONFLICT DO NOTHING
                RETURNING id
                """))
    }

    /// Takes deliveries to send them: `pending → sending`, or again from a sender whose lease has ended.
    ///
    /// A push for a session goes to the device that started it, whoever signs in there meanwhile; any other push
    /// loses its target when the installation has passed to another user since it was addressed. A push about an image
    /// job loses it when the job is deleted or expired: nobody could open what it tells of.
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
            """, ids, lease: lease)
    }

    /// Takes deliveries that nobody else will: those that were postponed and are due, and those whose sender has not
    /// settled them within its lease. What another caller is taking at this moment is left out.
    ///
    /// Deliveries that were never tried are not among them: the event that addressed them brings them to a sender.
    ///
    /// - Parameters:
    ///   - limit: The most deliveries to take; those that are due the longest come first.
    ///   - lease: How long the caller has.
    public func claimDue(limit: Int, lease: Duration) async throws(PostgresError) -> [ClaimedDelivery] {
        try await claim(
            """
            next_at <= now() AND ((state = 'sending' AND lease_until <= now())
                                  OR (state = 'pending' AND code IS NOT NULL))
            ORDER BY next_at LIMIT $2 FOR UPDATE SKIP LOCKED
            """, limit, lease: lease)
    }

    /// Claims what `choice` selects, with `value` bound to its `$2`.
    private func claim(
        _ choice: String, _ value: some PostgresEncodable, lease: Duration
    ) async throws(PostgresError) -> [ClaimedDelivery] {
        var query = PostgresQuery(
            unescaped: """
                WITH due AS (
                    SELECT id AS due_id, notification_id AS due_notification_id, install_id AS due_install_id
                    FROM deliveries WHERE \(choice)
                )
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
                RETURNING d.id, d.notification_id, d.install_id, d.attempt, d.lease_until, n.kind, n.recipient_type,
                          n.recipient_id, n.lane, n.parameters::text AS parameters, n.expires_at,
                          CASE WHEN n.kind IN ('job_completed', 'job_failed') AND j.id IS NULL THEN 'job_gone'
                               WHEN d.generation IS DISTINCT FROM i.generation THEN 'no_installation' END AS skip_code,
                          i.kind AS target_kind, i.installation_key, i.value_sealed, i.platform, i.locale, i.user_id
                """)
        query.bind(lease.inSeconds)
        query.bind(value)
        return try await db.query(query).map { row throws(PostgresError) in try ClaimedDelivery(row: row) }
    }

    /// The job a notification is about; null for other kinds, and for what is no id.
    private static let jobID = """
        CASE WHEN n.kind IN ('job_completed', 'job_failed') AND n.parameters->>'job_id' ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
             THEN (n.parameters->>'job_id')::uuid END
        """

    /// Returns how long it is until ``claimDue(limit:lease:)`` finds something; negative when it would now, nil when
    /// nothing is postponed or being sent.
    public func timeUntilDue() async throws(PostgresError) -> Duration? {
        let query: PostgresQuery = """
            SELECT extract(epoch FROM min(next_at) - now())::float8 AS seconds FROM deliveries
            WHERE state = 'sending' OR (state = 'pending' AND code IS NOT NULL)
            """
        let seconds: Double? = try await db.query(query.readOnly()).first?.decode("seconds")
        return seconds.map { .seconds($0) }
    }

    /// Ends deliveries: `pending | sending → accepted | dead | failed | expired | skipped`.
    ///
    /// - Returns: The ids that this call ended; of the others an end was written before.
    @discardableResult
    public func settle(_ batch: [DeliverySettlement]) async throws(PostgresError) -> Set<UUID> {
        guard !batch.isEmpty else { return [] }
        return try ids(
            await db.query(
                """
                WITH ended AS (
                    SELECT DISTINCT ON (id) id AS ended_id, outcome, fcm_name, code
                    FROM unnest(\(batch.map(\.id)), \(batch.map(\.outcome.rawValue)), \(batch.map(\.fcmName)),
                                \(batch.map(\.code))) AS e (id, outcome, fcm_name, code)
                    ORDER BY id
                ), held AS (
                    SELECT d.id AS held_id FROM deliveries d JOIN ended ON ended_id = d.id
                    WHERE d.state IN ('pending', 'sending') ORDER BY d.id FOR UPDATE OF d
                )
                UPDATE deliveries d
                SET state = outcome, fcm_name = ended.fcm_name, code = ended.code, lease_until = NULL,
                    settled_at = now()
                FROM held JOIN ended ON ended_id = held_id
                WHERE d.id = held_id AND d.state IN ('pending', 'sending')
                RETURNING d.id
                """))
    }

    /// Gives deliveries back to be sent later: `sending → pending`.
    ///
    /// - Returns: The ids that were given back; of the others another sender has taken over, or an end was written.
    @discardableResult
    public func postpone(_ batch: [DeliveryPostponement]) async throws(PostgresError) -> Set<UUID> {
        guard !batch.isEmpty else { return [] }
        return try ids(
            await db.query(
                """
                WITH given AS (
                    SELECT DISTINCT ON (id) id AS given_id, given_attempt, delay, given_code, counts
                    FROM unnest(\(batch.map(\.id)), \(batch.map { Int32($0.attempt) }), \(batch.map(\.delay.inSeconds)),
                                \(batch.map(\.code)), \(batch.map(\.countsAsAttempt)))
                        AS g (id, given_attempt, delay, given_code, counts)
                    ORDER BY id
                ), held AS (
                    SELECT d.id AS held_id FROM deliveries d JOIN given ON given_id = d.id
                    WHERE d.state = 'sending' AND d.attempt = given_attempt ORDER BY d.id FOR UPDATE OF d
                )
                UPDATE deliveries d
                SET state = 'pending', next_at = now() + make_interval(secs => delay), lease_until = NULL,
                    code = given_code, attempt = d.attempt - CASE WHEN counts THEN 0 ELSE 1 END
                FROM held JOIN given ON given_id = held_id
                WHERE d.id = held_id AND d.state = 'sending' AND d.attempt = given_attempt
                RETURNING d.id
                """))
    }

    /// Ends what waits for installations that no longer exist: `pending → skipped`.
    ///
    /// - Parameter code: Kept with each, for the operator.
    /// - Returns: The deliveries that this call ended.
    public func withdraw(installIDs: [UUID], code: String) async throws(PostgresError) -> [Delivery] {
        guard !installIDs.isEmpty else { return [] }
        let rows = try await db.query(
            """
            UPDATE deliveries d SET state = 'skipped', code = \(code), settled_at = now()
            WHERE d.install_id = ANY(\(installIDs)) AND d.state = 'pending'
              AND NOT EXISTS (SELECT FROM push_installs p WHERE p.id = d.install_id)
            RETURNING *
            """)
        return try rows.map { row throws(PostgresError) in try Delivery(row: row) }
    }

    /// Returns deliveries by id; unknown ids are left out.
    public func find(ids: [UUID]) async throws(PostgresError) -> [Delivery] {
        guard !ids.isEmpty else { return [] }
        let query: PostgresQuery = "SELECT * FROM deliveries WHERE id = ANY(\(ids))"
        let rows = try await db.query(query.readOnly())
        return try rows.map { row throws(PostgresError) in try Delivery(row: row) }
    }

    /// Returns the deliveries of a notification.
    public func find(notificationID: UUID) async throws(PostgresError) -> [Delivery] {
        let query: PostgresQuery = "SELECT * FROM deliveries WHERE notification_id = \(notificationID)"
        let rows = try await db.query(query.readOnly())
        return try rows.map { row throws(PostgresError) in try Delivery(row: row) }
    }

    private func ids(_ rows: PostgresRows) throws(PostgresError) -> Set<UUID> {
        Set(try rows.map { row throws(PostgresError) in try row.decode("id", as: UUID.self) })
    }
}
