public import FoundationEssentials
public import PostgresClient
internal import WireFormat

extension ImageJobRepository {
    /// How long a job stays with a worker that gives no sign of life.
    public static let lease: Duration = .seconds(12)

    /// Takes a job into work: `pending | processing → processing`.
    ///
    /// A job that is already `processing` is taken again once its worker's lease has ended, because that worker died.
    ///
    /// - Parameter worker: Who takes it; another one for each delivery, so that of two only one works on it.
    /// - Returns: The job; `nil` when somebody else has it, or it is terminal, past its deadline, deleted or gone.
    public func begin(id: UUID, worker: UUID = UUID()) async throws(PostgresError) -> ImageJob? {
        let rows = try await db.query(
            """
            UPDATE image_jobs
            SET status = 'processing', started_at = coalesce(started_at, now()), worker = \(worker),
                lease_until = now() + make_interval(secs => \(Self.lease.inSeconds))
            WHERE id = \(id) AND status IN ('pending', 'processing') AND deadline_at > now() AND \(unescaped: Self.isVisible)
              AND (worker IS NULL OR worker = \(worker) OR lease_until <= now())
            RETURNING *
            """)
        return try jobs(rows).first
    }

    /// Gives a sign of life for a job that its worker still works on.
    ///
    /// - Returns: Whether it is to go on: the job is open, nobody deleted it, and nobody else has taken it.
    public func keep(id: UUID, worker: UUID) async throws(PostgresError) -> Bool {
        try await db.execute(
            """
            UPDATE image_jobs SET lease_until = now() + make_interval(secs => \(Self.lease.inSeconds))
            WHERE id = \(id) AND status = 'processing' AND worker = \(worker) AND \(unescaped: Self.isVisible)
            """) == 1
    }

    /// Lets others have a job at once, after a try that has not ended it.
    public func release(id: UUID, worker: UUID) async throws(PostgresError) {
        try await db.execute(
            "UPDATE image_jobs SET worker = NULL, lease_until = NULL WHERE id = \(id) AND worker = \(worker)")
    }

    /// Returns how long somebody has a job at most from now, without another sign of life; `nil` when nobody has it.
    public func leaseLeft(id: UUID) async throws(PostgresError) -> Duration? {
        let query: PostgresQuery = """
            SELECT extract(epoch FROM lease_until - now())::double precision AS seconds FROM image_jobs
            WHERE id = \(id) AND status = 'processing' AND deadline_at > now() AND lease_until > now()
              AND \(unescaped: Self.isVisible)
            """
        return try await db.query(query.readOnly()).first.map { row throws(PostgresError) in .seconds(try row.decode("seconds")) }
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

    /// Ends a job with its picture: `processing → completed`.
    ///
    /// Any worker's picture will do, also that of one the job was taken from: whoever has it now learns of the end.
    /// - Returns: Whether this call ended it. `false`: it had ended or was deleted, so nothing may follow from this call.
    public func complete(id: UUID, result: ImageJob.Result) async throws(PostgresError) -> Bool {
        try await db.execute(
            """
            UPDATE image_jobs
            SET status = 'completed', percent = 100, completed_at = now(), worker = NULL, lease_until = NULL, result_key = \(result.key),
                result_format = \(result.format), result_bytes = \(result.byteCount), result_width = \(result.width),
                result_height = \(result.height), original_width = \(result.originalWidth),
                original_height = \(result.originalHeight), thumbnail_key = \(result.thumbnailKey),
                model_used = \(result.modelUsed), generation_ms = \(result.generationTimeMs)
            WHERE id = \(id) AND status = 'processing' AND \(unescaped: Self.isVisible)
            """) == 1
    }

    /// Ends a job without a picture: `processing → failed`.
    ///
    /// - Parameter worker: Who has the job; one that it was taken from cannot fail it, as the next may be paying for a picture.
    /// - Returns: Whether this call ended it. `false`: it had ended, was deleted or is another worker's, so nothing may follow
    ///   from this call.
    public func fail(id: UUID, worker: UUID, _ failure: ImageJob.Failure) async throws(PostgresError) -> Bool {
        try await db.execute(
            """
            UPDATE image_jobs SET status = 'failed', completed_at = now(), worker = NULL, lease_until = NULL,
                                  error_code = \(failure.code.rawValue), error_message = \(failure.message)
            WHERE id = \(id) AND status = 'processing' AND worker = \(worker) AND \(unescaped: Self.isVisible)
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
                UPDATE image_jobs SET status = 'failed', completed_at = now(), worker = NULL, lease_until = NULL,
                                      error_code = \(failure.code.rawValue), error_message = \(failure.message)
                FROM overdue WHERE id = overdue_id
                RETURNING image_jobs.*
                """))
    }
}
