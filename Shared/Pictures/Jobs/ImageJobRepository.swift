public import Accounts
public import FoundationEssentials
public import PostgresClient
internal import WireFormat

/// Reads and writes `image_jobs`. Every change of state is a compare-and-set, and a terminal state is final.
///
/// A job that its user deleted, or whose 24 hours are over, is invisible to all queries for users, though its row may still exist.
public struct ImageJobRepository: Sendable {
    /// The most jobs of one page of a list.
    public static let maxPageSize = 100

    let db: any PostgresQueryable

    /// Works on a client or inside a transaction.
    public init(_ db: some PostgresQueryable) {
        self.db = db
    }

    /// Inserts a job in the state `pending`, and adds its cost to that of its account.
    ///
    /// - Throws: `PostgresError` with an SQL state of class 23 when the user or the template does not exist.
    @discardableResult
    public func insert(_ new: NewImageJob) async throws(PostgresError) -> ImageJob {
        let rows = try await db.query(
            """
            WITH cost AS (
                INSERT INTO image_costs (user_id, minute, cost_ms)
                VALUES (\(new.userID), date_trunc('minute', now(), 'UTC'), \(Int(new.estimatedCost / .milliseconds(1))))
                ON CONFLICT (user_id, minute) DO UPDATE SET cost_ms = image_costs.cost_ms + EXCLUDED.cost_ms
            )
            INSERT INTO image_jobs (id, user_id, lane, awaits_turn, template_id, template_name, width, height, quality, input_key,
                                    request_id, traceparent, deadline_at, expires_at)
            VALUES (\(new.id), \(new.userID), \(new.lane.rawValue), \(new.awaitsTurn), \(new.templateID),
                    (SELECT name FROM image_templates WHERE id = \(new.templateID)),
                    \(new.width), \(new.height), \(new.quality), \(new.inputKey), \(new.requestID), \(new.traceparent),
                    now() + make_interval(secs => \(new.processingTime / .seconds(1))),
                    now() + make_interval(secs => \(new.lifetime / .seconds(1))))
            RETURNING *
            """)
        return try ImageJob(row: rows.required())
    }

    /// Returns a job of any user.
    public func find(id: UUID) async throws(PostgresError) -> ImageJob? {
        let query: PostgresQuery = "SELECT * FROM image_jobs WHERE id = \(id) AND \(unescaped: Self.isVisible)"
        return try await db.query(query.readOnly()).first.map(ImageJob.init(row:))
    }

    /// Returns jobs by id, in no particular order; unknown ids are omitted.
    public func find(ids: [UUID]) async throws(PostgresError) -> [ImageJob] {
        guard !ids.isEmpty else { return [] }
        let query: PostgresQuery = "SELECT * FROM image_jobs WHERE id = ANY(\(ids)) AND \(unescaped: Self.isVisible)"
        return try await db.query(query.readOnly()).map(ImageJob.init(row:))
    }

    /// Returns jobs by id, oldest first, for operators: those that their users deleted or that expired are included.
    public func findIncludingDeleted(ids: [UUID]) async throws(PostgresError) -> [ImageJob] {
        guard !ids.isEmpty else { return [] }
        let query: PostgresQuery = "SELECT * FROM image_jobs WHERE id = ANY(\(ids)) ORDER BY created_at, id"
        return try await db.query(query.readOnly()).map(ImageJob.init(row:))
    }

    /// Returns a user's jobs, newest first.
    ///
    /// - Parameters:
    ///   - cursor: The end of the previous page.
    ///   - limit: The most jobs; capped at ``maxPageSize``.
    public func list(userID: UUID, before cursor: ListCursor = .start, limit: Int) async throws(PostgresError) -> [ImageJob] {
        let query: PostgresQuery = """
            SELECT * FROM image_jobs
            WHERE user_id = \(userID) AND \(unescaped: Self.isVisible)
              AND (created_at, id) < (\(cursor.createdAt), \(cursor.id))
            ORDER BY created_at DESC, id DESC LIMIT \(min(max(limit, 0), Self.maxPageSize))
            """
        return try await db.query(query.readOnly()).map(ImageJob.init(row:))
    }

    /// Returns the position of a pending job in the queue, from 1; nil when it is not pending. Jobs of other accounts that wait for their
    /// turn are behind it.
    public func queuePosition(id: UUID) async throws(PostgresError) -> Int? {
        let query: PostgresQuery = """
            SELECT (SELECT count(*) FROM image_jobs w
                    WHERE w.status = 'pending' AND w.deleted_at IS NULL AND (w.created_at, w.id) <= (j.created_at, j.id)
                      AND (NOT w.awaits_turn OR w.user_id = j.user_id)) AS position
            FROM image_jobs j WHERE id = \(id) AND status = 'pending' AND \(unescaped: Self.isVisible)
            """
        return try await db.query(query.readOnly()).first?.decode("position")
    }

    /// Returns the median time from upload to result of the newest hundred completed jobs of a template, in whole seconds and at least 1;
    /// nil without a completed job.
    public func medianSeconds(templateID: String) async throws(PostgresError) -> Int? {
        let query: PostgresQuery = """
            SELECT ceil(percentile_cont(0.5) WITHIN GROUP (ORDER BY seconds))::integer AS median
            FROM (SELECT extract(epoch FROM completed_at - created_at) AS seconds FROM image_jobs
                  WHERE template_id = \(templateID) AND status = 'completed'
                  ORDER BY completed_at DESC LIMIT 100) AS newest
            """
        let median = try await db.query(query.readOnly()).first.map { row throws(PostgresError) in
            try row.decode("median", as: Int?.self)
        }
        return (median ?? nil).map { max(1, $0) }
    }

    /// Records that the user of a terminal job has fetched its outcome, so that it no longer counts for the badge.
    public func markSeen(id: UUID) async throws(PostgresError) {
        try await db.execute(
            """
            UPDATE image_jobs SET seen_at = now()
            WHERE id = \(id) AND status IN ('completed', 'failed') AND seen_at IS NULL
            """)
    }

    /// SQL condition: the job still exists for users.
    package static let isVisible = "deleted_at IS NULL AND expires_at > now()"
}
