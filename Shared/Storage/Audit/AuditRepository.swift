public import FoundationEssentials
public import PostgresClient

/// Appends to and reads `audit_log`.
public struct AuditRepository: Sendable {
    /// The rows to read.
    public enum Selection: Sendable {
        /// What happened to an account.
        case user(UUID)
        /// What a request did.
        case request(String)
        /// Everything.
        case all
    }

    /// The time for which a row is kept at least: 24 months, with a leap day. Whole months are dropped.
    public static let retention: Duration = .seconds(731 * 86_400)

    let db: any PostgresQueryable

    /// Works on a client or inside a transaction.
    public init(_ db: some PostgresQueryable) {
        self.db = db
    }

    /// Appends an entry. In a transaction it is sent with the next statement, without a round trip of its own, and is written if the
    /// action is.
    public func append(_ entry: AuditEntry) async throws(PostgresError) {
        try await db.enqueue(
            """
            INSERT INTO audit_log (actor_kind, actor_id, action, result, subject_id, object_id, request_id, detail, address_key)
            VALUES (\(entry.actor.kind), \(entry.actor.id), \(entry.action.rawValue), \(entry.result.rawValue), \(entry.subjectID),
                    \(entry.objectID), \(entry.requestID), \(entry.detail), \(entry.addressKey))
            """)
    }

    /// Returns the newest rows of a selection, oldest first.
    ///
    /// - Parameters:
    ///   - since: Rows before it are left out.
    ///   - limit: The maximum number of rows.
    public func find(_ selection: Selection, since: Date, limit: Int) async throws(PostgresError) -> [AuditRecord] {
        let query: PostgresQuery =
            switch selection {
            case .user(let id):
                "SELECT * FROM audit_log WHERE subject_id = \(id) AND at >= \(since) ORDER BY at DESC, id DESC LIMIT \(limit)"
            case .request(let id):
                "SELECT * FROM audit_log WHERE request_id = \(id) AND at >= \(since) ORDER BY at DESC, id DESC LIMIT \(limit)"
            case .all:
                "SELECT * FROM audit_log WHERE at >= \(since) ORDER BY at DESC, id DESC LIMIT \(limit)"
            }
        return try await db.query(query.readOnly()).map(AuditRecord.init(row:)).reversed()
    }

    /// Makes the partitions of this month and the next two, and drops those that ended 24 months ago.
    ///
    /// Fails with a lock timeout of 2 s when a long transaction is in the way; call it again later.
    ///
    /// - Returns: The number of partitions that were made or dropped.
    @discardableResult
    public func maintainPartitions() async throws(PostgresError) -> Int {
        let rows = try await db.query("SELECT audit_log_maintain()::bigint AS changed")
        return try rows.first?.decode("changed") ?? 0
    }
}
