public import FoundationEssentials
public import PostgresClient

/// Appends to and reads `audit_log`.
public struct AuditRepository: Sendable {
    /// The rows to read.
    public enum Selection: Sendable {
        /// The entries about an account.
        case user(UUID)
        /// The entries of a request.
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

    /// Counts the decisions on faces since a time, by action and result, the most frequent first.
    public func faceDecisions(since: Date) async throws(PostgresError) -> [FaceDecisionCount] {
        let actions = [AuditAction.faceEnrolled, .faceReplaced, .faceCompared].map(\.rawValue)
        let query: PostgresQuery = """
            SELECT action, CASE result WHEN 'failed' THEN coalesce(detail, result) ELSE result END AS outcome, count(*) AS decisions
            FROM audit_log WHERE at >= \(since) AND action = ANY(\(actions)) GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2
            """
        return try await db.query(query.readOnly()).map { row throws(PostgresError) in
            FaceDecisionCount(
                action: try row.decode("action"), outcome: try row.decode("outcome"), count: try row.decode("decisions", as: Int.self))
        }
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

/// The number of decisions on faces that ended in one way.
public struct FaceDecisionCount: Sendable, Equatable {
    /// The action: a face was enrolled, replaced or compared.
    public let action: String
    /// `succeeded`, or the reason of the refusal.
    public let outcome: String
    /// How often it happened.
    public let count: Int
}
