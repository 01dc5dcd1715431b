public import FoundationEssentials
public import PostgresClient

/// An operator's view of an account in addition to its ``AccountSummary``: states and numbers, no sealed values.
public struct AccountDetails: Sendable, Equatable {
    /// `active`, or `erasing`.
    public let state: String
    /// The image jobs that are kept.
    public let jobs: Int
    /// The image jobs that have not ended.
    public let openJobs: Int
    /// The users whom it has blocked.
    public let blocked: Int
    /// The users who have blocked it.
    public let blockers: Int
    /// The open reports about it or its messages.
    public let openReports: Int
    /// The version of the text that its owner consented to last; nil without a consent.
    public let consentVersion: String?
    /// When its owner consented.
    public let consentAt: Date?
    /// When a recovery replaces its face; nil without a recovery.
    public let recoveryDueAt: Date?
    /// The running erasures of the account or of its face.
    public let erasures: [UUID]

    init(row: PostgresRow) throws(PostgresError) {
        state = try row.decode("state")
        jobs = try row.decode("jobs")
        openJobs = try row.decode("open_jobs")
        blocked = try row.decode("blocked")
        blockers = try row.decode("blockers")
        openReports = try row.decode("open_reports")
        consentVersion = try row.decode("version")
        consentAt = try row.decode("given_at")
        recoveryDueAt = try row.decode("recovery_due_at")
        erasures = try row.decode("erasures")
    }
}

extension UserRepository {
    /// Returns what else an operator sees of an account, if there is one.
    public func details(id: UUID) async throws(PostgresError) -> AccountDetails? {
        let query: PostgresQuery = """
            SELECT u.state, j.jobs, j.open_jobs, c.version, c.given_at,
                (SELECT count(*) FROM user_blocks b WHERE b.user_id = u.id) AS blocked,
                (SELECT count(*) FROM user_blocks b WHERE b.blocked_id = u.id) AS blockers,
                (SELECT count(*) FROM reports r WHERE r.state = 'open'
                 AND (r.sender_id = u.id OR r.subject_type = 'user' AND r.subject_id = u.id::text)) AS open_reports,
                (SELECT p.due_at FROM pending_enrolments p WHERE p.user_id = u.id AND p.due_at IS NOT NULL) AS recovery_due_at,
                ARRAY(SELECT e.id FROM erasures e WHERE e.user_id = u.id ORDER BY e.requested_at) AS erasures
            FROM users u
            CROSS JOIN LATERAL (
                SELECT count(*) AS jobs, count(*) FILTER (WHERE status IN ('pending', 'processing')) AS open_jobs
                FROM image_jobs WHERE user_id = u.id AND deleted_at IS NULL) j
            LEFT JOIN LATERAL (
                SELECT version, given_at FROM consents WHERE user_id = u.id ORDER BY given_at DESC LIMIT 1) c ON true
            WHERE u.id = \(id)
            """
        return try await db.query(query.readOnly()).first.map(AccountDetails.init(row:))
    }
}
