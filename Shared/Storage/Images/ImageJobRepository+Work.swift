public import FoundationEssentials
public import PostgresClient
internal import WireFormat

extension ImageJobRepository {
    /// Takes a job into work: `pending | processing → processing`.
    ///
    /// A job that is already `processing` is taken again, because its first worker may have died.
    ///
    /// - Returns: The job; `nil` when it is terminal, past its deadline, deleted or gone.
    public func begin(id: UUID) async throws(PostgresError) -> ImageJob? {
        let rows = try await db.query(
            """
            UPDATE image_jobs SET status = 'processing', started_at = coalesce(started_at, now())
            WHERE id = \(id) AND status IN ('pending', 'processing') AND deadline_at > now() AND \(unescaped: Self.isVisible)
            RETURNING *
            """)
        return try jobs(rows).first
    }

    /// Notes how much of a job is done; the figure never falls.
    ///
    /// - Parameter percent: 0 to 99; 100 is what completion says.
    /// - Returns: What is noted now, which may be more; `nil` when the job is no longer to be worked on.
    public func progress(id: UUID, percent: Int) async throws(PostgresError) -> Int? {
        let rows = try await db.query(
            """
            UPDATE image_jobs SET percent = greatest(percent, \(min(max(percent, 0), 99)))
            WHERE id = \(id) AND status = 'processing' AND \(unescaped: Self.isVisible)
            RETURNING percent
            """)
        return try rows.first.map { row throws(PostgresError) in try row.decode("percent") }
    }

    /// Whether a job is still to be worked on: not ended elsewhere, not deleted.
    public func isWanted(id: UUID) async throws(PostgresError) -> Bool {
        let query: PostgresQuery =
            "SELECT id FROM image_jobs WHERE id = \(id) AND status = 'processing' AND \(unescaped: Self.isVisible)"
        return try await !db.query(query.readOnly()).isEmpty
    }

    /// Ends a job with its picture: `processing → completed`.
    ///
    /// - Returns: Whether this call ended it. `false`: it had ended or was deleted, so nothing may follow from this call.
    public func complete(id: UUID, result: ImageJob.Result) async throws(PostgresError) -> Bool {
        try await db.execute(
            """
            UPDATE image_jobs
            SET status = 'completed', percent = 100, completed_at = now(), result_key = \(result.key),
                result_format = \(result.format), result_bytes = \(result.byteCount), result_width = \(result.width),
                result_height = \(result.height), original_width = \(result.originalWidth),
                original_height = \(result.originalHeight), thumbnail_key = \(result.thumbnailKey),
                model_used = \(result.modelUsed), generation_ms = \(result.generationTimeMs)
            WHERE id = \(id) AND status = 'processing' AND \(unescaped: Self.isVisible)
            """) == 1
    }

    /// Ends a job without a picture: `pending | processing → failed`.
    ///
    /// - Returns: Whether this call ended it. `false`: it had ended or was deleted, so nothing may follow from this call.
    public func fail(id: UUID, _ failure: ImageJob.Failure) async throws(PostgresError) -> Bool {
        try await db.execute(
            """
            UPDATE image_jobs SET status = 'failed', completed_at = now(), error_code = \(failure.code.rawValue),
                                  error_message = \(failure.message)
            WHERE id = \(id) AND status IN ('pending', 'processing') AND \(unescaped: Self.isVisible)
            """) == 1
    }

    /// Fails jobs that were not done in time, at most `limit`: `pending | processing → failed`.
    ///
    /// Jobs that another caller is just ending are passed over.
    ///
    /// - Returns: The jobs this call ended. What follows (event, push) belongs in the same transaction.
    public func failOverdue(_ failure: ImageJob.Failure, limit: Int) async throws(PostgresError) -> [ImageJob] {
        try jobs(
            await db.query(
                """
                WITH overdue AS (
                    SELECT id AS overdue_id FROM image_jobs
                    WHERE status IN ('pending', 'processing') AND deadline_at <= now() AND \(unescaped: Self.isVisible)
                    ORDER BY deadline_at LIMIT \(limit) FOR UPDATE SKIP LOCKED
                )
                UPDATE image_jobs SET status = 'failed', completed_at = now(), error_code = \(failure.code.rawValue),
                                      error_message = \(failure.message)
                FROM overdue WHERE id = overdue_id
                RETURNING image_jobs.*
                """))
    }
}
