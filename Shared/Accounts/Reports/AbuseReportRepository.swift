public import FoundationEssentials
public import PostgresClient
internal import WireFormat

/// Reads and writes `reports`.
public struct AbuseReportRepository: Sendable {
    /// The reports that one account makes in 24 hours.
    public static let maxPerDay = 50
    /// The time for which closed reports are kept.
    public static let closedLifetime: Duration = .seconds(180 * 24 * 60 * 60)
    /// The time for which open reports are kept.
    public static let openLifetime: Duration = .seconds(2 * 365 * 24 * 60 * 60)

    let db: any PostgresQueryable

    /// Works on a client or inside a transaction.
    public init(_ db: some PostgresQueryable) {
        self.db = db
    }

    /// Stores a report; a second one of the same subject by the same user changes nothing while the first is open. Call in a
    /// transaction: reports of an account are stored one after the other.
    ///
    /// - Returns: Nil when it is stored; the time until the account may report again above ``maxPerDay``.
    public func insert(_ new: NewAbuseReport) async throws(PostgresError) -> Duration? {
        try await db.execute("SELECT pg_advisory_xact_lock(hashtextextended('reports:' || (\(new.reporterID)::uuid)::text, 0))")
        let rows = try await db.query(
            """
            SELECT extract(epoch FROM created_at + interval '1 day' - clock_timestamp())::float8 AS wait FROM reports
            WHERE reporter_id = \(new.reporterID) AND created_at > now() - interval '1 day'
            ORDER BY created_at DESC OFFSET \(Self.maxPerDay - 1) LIMIT 1
            """)
        if let row = rows.first { return .seconds(max(1, try row.decode("wait", as: Double.self))) }
        if case .user(let userID) = new.subject, try await ErasureRepository(db).isErased(userID) { return nil }
        try await db.execute(
            """
            INSERT INTO reports (id, reporter_id, subject_type, subject_id, sender_id, reason, text_sealed)
            VALUES (\(new.id), \(new.reporterID), \(new.subject.type), \(new.subject.id), \(try await sender(of: new)),
                    \(new.reason.rawValue), \(new.textSealed))
            ON CONFLICT DO NOTHING
            """)
        return nil
    }

    /// Returns the sender of a reported message that the reporter could see.
    private func sender(of new: NewAbuseReport) async throws(PostgresError) -> UUID? {
        guard case .message(let messageID, let name) = new.subject else { return nil }
        return try await db.query(
            """
            SELECT c.sender_id FROM topics t JOIN topic_members m ON m.topic_id = t.id AND m.user_id = \(new.reporterID)
            JOIN conversation_messages c ON c.topic_id = t.id AND c.message_id = \(messageID)
            WHERE t.name = \(name.text)
            """
        ).first?.decode("sender_id")
    }

    /// Returns a report.
    public func find(id: UUID) async throws(PostgresError) -> AbuseReport? {
        let query: PostgresQuery = "SELECT * FROM reports WHERE id = \(id)"
        return try await db.query(query.readOnly()).first.map(AbuseReport.init(row:))
    }

    /// Returns reports in a state, the oldest first.
    public func list(_ state: AbuseReport.State, limit: Int) async throws(PostgresError) -> [AbuseReport] {
        let query: PostgresQuery = """
            SELECT * FROM reports WHERE state = \(state.rawValue) ORDER BY created_at, id LIMIT \(limit)
            """
        return try await db.query(query.readOnly()).map(AbuseReport.init(row:))
    }

    /// Closes a report: `open → closed`.
    ///
    /// - Returns: Whether this call closed it.
    public func close(id: UUID) async throws(PostgresError) -> Bool {
        try await db.execute("UPDATE reports SET state = 'closed', closed_at = now() WHERE id = \(id) AND state = 'open'") == 1
    }

    /// Deletes at most `limit` reports past ``closedLifetime``, or past ``openLifetime`` if they are still open.
    ///
    /// - Returns: The number of deleted reports.
    public func deleteExpired(limit: Int) async throws(PostgresError) -> Int {
        try await db.execute(
            """
            DELETE FROM reports WHERE id IN (
                (SELECT id FROM reports WHERE state = 'closed'
                   AND created_at <= now() - make_interval(secs => \(Self.closedLifetime / .seconds(1))) LIMIT \(limit))
                UNION ALL
                (SELECT id FROM reports WHERE state = 'open'
                   AND created_at <= now() - make_interval(secs => \(Self.openLifetime / .seconds(1))) LIMIT \(limit)))
            """)
    }
}
