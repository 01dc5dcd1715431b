internal import FoundationEssentials
public import PostgresClient
public import WireFormat

/// The turns of addresses: each has a few sessions in the streams, and its others wait in the table, so that a backlog of one address
/// delays only its own sessions.
extension SessionRepository {
    /// Lets the oldest waiting session of an address take the place of one that has just been decided.
    ///
    /// Call in the transaction that decides the session, as its last lock: it waits for admissions of the address, which hold the same lock
    /// until their sessions are visible. Publish the ``Session/request`` of the returned session in that transaction.
    ///
    /// - Returns: The session whose turn it is; `nil` when no session waits, or `session` held no place.
    public func nextTurn(after session: Session) async throws(PostgresError) -> Session? {
        guard let addressKey = session.origin.addressKey, session.lane != .known, !session.awaitsTurn else { return nil }
        try await db.execute(
            "SELECT pg_advisory_xact_lock(\(unescaped: Self.turnLock("key"))) FROM (SELECT \(addressKey)::bytea AS key) address")
        let rows = try await db.query(
            """
            UPDATE sessions SET awaits_turn = false
            WHERE id = (SELECT id FROM sessions WHERE address_key = \(addressKey) AND \(unescaped: Self.isWaiting)
                        ORDER BY created_at, id LIMIT 1)
            RETURNING \(unescaped: Session.columns)
            """)
        return try rows.first.map(Session.init(row:))
    }

    /// Gives free places of addresses to their waiting sessions. Places become free without ``nextTurn(after:)`` where a session in the
    /// streams has expired, or its row was deleted.
    ///
    /// Call in a transaction, and publish the ``Session/request`` of each session in it.
    ///
    /// - Parameters:
    ///   - places: The places of an address.
    ///   - limit: The most sessions.
    public func fillTurns(places: Int, limit: Int) async throws(PostgresError) -> [Session] {
        // Skip an address that another transaction has locked: that transaction, or the next call, gives it its turn. Waiting could
        // deadlock, because this transaction holds locks of other addresses.
        let found = try await db.query(
            """
            SELECT address_key FROM (
                SELECT address_key FROM (SELECT DISTINCT address_key FROM sessions WHERE \(unescaped: Self.isWaiting)) waiting
                LEFT JOIN (SELECT address_key, count(*) AS count FROM sessions
                           WHERE \(unescaped: Self.isUndecided) AND \(unescaped: Self.isInFlight) GROUP BY address_key) in_flight
                    USING (address_key)
                WHERE coalesce(count, 0) < \(places)
                LIMIT \(limit)) free
            WHERE pg_try_advisory_xact_lock(\(unescaped: Self.turnLock("address_key")))
            """)
        let addressKeys = try found.column("address_key", as: [UInt8].self)
        guard !addressKeys.isEmpty else { return [] }
        let rows = try await db.query(
            """
            WITH due AS (
                SELECT waiting.id AS due_id FROM (
                    SELECT id, address_key, row_number() OVER (PARTITION BY address_key ORDER BY created_at, id) AS number
                    FROM sessions WHERE address_key = ANY(\(addressKeys)) AND \(unescaped: Self.isWaiting)) waiting
                CROSS JOIN LATERAL (
                    SELECT count(*) AS count FROM sessions s
                    WHERE s.address_key = waiting.address_key
                      AND \(unescaped: Self.isUndecided) AND \(unescaped: Self.isInFlight)) in_flight
                WHERE waiting.number <= \(places) - in_flight.count
                LIMIT \(limit)
            )
            UPDATE sessions SET awaits_turn = false FROM due WHERE id = due_id
            RETURNING \(unescaped: Session.columns)
            """)
        return try rows.map(Session.init(row:))
    }

    /// SQL expression: the number of the lock of an address's turns.
    static func turnLock(_ addressKey: String) -> String {
        "hashtextextended('sessions_of_address:' || encode(\(addressKey), 'hex'), 0)"
    }

    /// SQL condition: a session waits for its turn.
    private static let isWaiting = "awaits_turn AND state = 'received' AND deadline_at > now()"
}

extension Session {
    /// The event that has a worker examine it.
    public var request: EkycRequested { EkycRequested(sessionID: id, event: event, lane: lane) }
}
