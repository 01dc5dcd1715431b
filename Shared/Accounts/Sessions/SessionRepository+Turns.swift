internal import FoundationEssentials
public import PostgresClient
public import WireFormat

/// The turns of senders: each has a few sessions in the streams, and its others wait in the table, so that a backlog of one sender delays
/// only its own sessions.
///
/// In the lane `new` an address has places. In the lane `bulk`, whose sessions are examined one after the other and may take seconds each,
/// a site has ``bulkPlaces``, and of its addresses the one comes first whose sessions there have taken the least time of late: people
/// behind one /48 of a mobile network are strangers to each other.
extension SessionRepository {
    /// The places of a site in the lane `bulk`.
    public static let bulkPlaces = 1

    /// Lets the oldest waiting session of a sender take the place of one that has just been decided.
    ///
    /// Call in the transaction that decides the session, as its last lock: it waits for admissions of the site, which hold the same lock
    /// until their sessions are visible. Publish the ``Session/request`` of the returned session in that transaction.
    ///
    /// - Returns: The session whose turn it is; `nil` when no session waits, or `session` held no place.
    public func nextTurn(after session: Session) async throws(PostgresError) -> Session? {
        let sender = session.lane == .bulk ? session.origin.siteKey : session.origin.addressKey
        guard let sender, let siteKey = session.origin.siteKey, session.lane != .known, !session.awaitsTurn else { return nil }
        try await db.execute("SELECT pg_advisory_xact_lock(\(unescaped: Self.turnLock("key"))) FROM (SELECT \(siteKey)::bytea AS key) site")
        let rows = try await db.query(
            """
            UPDATE sessions SET awaits_turn = false
            WHERE id = (SELECT id FROM sessions
                        LEFT JOIN (SELECT address_key, sum(cost_ms) AS used FROM sessions
                                   WHERE \(session.lane == .bulk) AND site_key = \(siteKey)
                                     AND created_at > now() - \(unescaped: Self.costInterval)
                                     AND lane = \(session.lane.rawValue) AND NOT awaits_turn GROUP BY address_key) served
                            USING (address_key)
                        WHERE \(unescaped: Self.sender(in: session.lane)) = \(sender)
                          AND lane = \(session.lane.rawValue) AND \(unescaped: Self.isWaiting)
                        ORDER BY coalesce(used, 0), created_at, id LIMIT 1)
            RETURNING \(unescaped: Session.columns)
            """)
        return try rows.first.map(Session.init(row:))
    }

    /// Gives free places of senders to their waiting sessions. Places become free without ``nextTurn(after:)`` where a session in the
    /// streams has expired, or its row was deleted.
    ///
    /// Call in a transaction, and publish the ``Session/request`` of each session in it.
    ///
    /// - Parameters:
    ///   - places: The places of an address in the lane `new`.
    ///   - limit: The most sessions.
    public func fillTurns(places: Int, limit: Int) async throws(PostgresError) -> [Session] {
        let new = try await fillTurns(in: .new, places: places, limit: limit)
        return try await new + fillTurns(in: .bulk, places: Self.bulkPlaces, limit: limit - new.count)
    }

    private func fillTurns(in lane: EkycLane, places: Int, limit: Int) async throws(PostgresError) -> [Session] {
        let sender = Self.sender(in: lane)
        // Skip a site that another transaction has locked: that transaction, or the next call, gives it its turn. Waiting could deadlock,
        // because this transaction holds locks of other sites.
        let found = try await db.query(
            """
            SELECT sender FROM (
                SELECT sender, site_key FROM (
                    SELECT DISTINCT \(unescaped: sender) AS sender, site_key FROM sessions
                    WHERE lane = \(lane.rawValue) AND \(unescaped: Self.isWaiting)) waiting
                LEFT JOIN (SELECT \(unescaped: sender) AS sender, count(*) AS count FROM sessions
                           WHERE lane = \(lane.rawValue) AND NOT awaits_turn AND \(unescaped: Self.isUndecided) GROUP BY 1) in_flight
                    USING (sender)
                WHERE coalesce(count, 0) < \(places)
                LIMIT \(limit)) free
            WHERE pg_try_advisory_xact_lock(\(unescaped: Self.turnLock("site_key")))
            """)
        let senders = try found.column("sender", as: [UInt8].self)
        guard !senders.isEmpty else { return [] }
        let rows = try await db.query(
            """
            WITH due AS (
                SELECT waiting.id AS due_id FROM (
                    SELECT id, \(unescaped: sender) AS sender,
                        row_number() OVER (PARTITION BY \(unescaped: sender) ORDER BY coalesce(used, 0), created_at, id) AS number
                    FROM sessions
                    LEFT JOIN (SELECT address_key, sum(cost_ms) AS used FROM sessions
                               WHERE \(lane == .bulk) AND \(unescaped: sender) = ANY(\(senders))
                                 AND created_at > now() - \(unescaped: Self.costInterval)
                                 AND lane = \(lane.rawValue) AND NOT awaits_turn GROUP BY address_key) served
                        USING (address_key)
                    WHERE \(unescaped: sender) = ANY(\(senders)) AND lane = \(lane.rawValue) AND \(unescaped: Self.isWaiting)) waiting
                CROSS JOIN LATERAL (
                    SELECT count(*) AS count FROM sessions s
                    WHERE s.\(unescaped: sender) = waiting.sender AND s.lane = \(lane.rawValue) AND NOT awaits_turn
                      AND \(unescaped: Self.isUndecided)) in_flight
                WHERE waiting.number <= \(places) - in_flight.count
                LIMIT \(limit)
            )
            UPDATE sessions SET awaits_turn = false FROM due WHERE id = due_id
            RETURNING \(unescaped: Session.columns)
            """)
        return try rows.map(Session.init(row:))
    }

    /// The column that names the sender whose places a session of a lane takes.
    private static func sender(in lane: EkycLane) -> String { lane == .bulk ? "site_key" : "address_key" }

    /// SQL expression: the number of the lock of a site's turns.
    static func turnLock(_ siteKey: String) -> String { "hashtextextended('sessions_of_site:' || encode(\(siteKey), 'hex'), 0)" }

    /// SQL condition: a session waits for its turn.
    private static let isWaiting = "awaits_turn AND state = 'received' AND deadline_at > now()"
}

extension Session {
    /// The event that has a worker examine it.
    public var request: EkycRequested { EkycRequested(sessionID: id, event: event, lane: lane) }
}
