public import FoundationEssentials
public import PostgresClient
internal import WireFormat

extension ImageJobRepository {
    /// The length of a worker's lease on a job.
    public static let lease: Duration = .seconds(8)

    /// Claims a job: `pending | processing → processing`.
    ///
    /// A job that is already `processing` can be claimed once its worker's lease has ended, because that worker has crashed.
    ///
    /// - Parameter worker: The id of the claim; a new one for each delivery of the event, so that only one of two deliveries processes the
    ///   job.
    /// - Returns: The job; `nil` when another worker holds it, or it is terminal, past its deadline or deleted.
    public func begin(id: UUID, worker: UUID = UUID()) async throws(PostgresError) -> ImageJob? {
        let rows = try await db.query(
            """
            UPDATE image_jobs
            SET status = 'processing', started_at = coalesce(started_at, now()), worker = \(worker),
                lease_until = now() + make_interval(secs => \(Self.lease / .seconds(1)))
            WHERE id = \(id) AND status IN ('pending', 'processing') AND deadline_at > now() AND \(unescaped: Self.isVisible)
              AND (worker IS NULL OR worker = \(worker) OR lease_until <= now())
            RETURNING *
            """)
        return try rows.first.map(ImageJob.init(row:))
    }

    /// Renews the lease of a worker on a job.
    ///
    /// - Returns: Whether the worker may continue: the job has not ended, is not deleted, and is not claimed by another worker.
    public func renewLease(id: UUID, worker: UUID) async throws(PostgresError) -> Bool {
        try await db.execute(
            """
            UPDATE image_jobs SET lease_until = now() + make_interval(secs => \(Self.lease / .seconds(1)))
            WHERE id = \(id) AND status = 'processing' AND worker = \(worker) AND \(unescaped: Self.isVisible)
            """) == 1
    }

    /// Releases a job after an attempt that has not ended it, so that another worker can claim it at once.
    public func release(id: UUID, worker: UUID) async throws(PostgresError) {
        try await db.execute(
            "UPDATE image_jobs SET worker = NULL, lease_until = NULL WHERE id = \(id) AND worker = \(worker)")
    }

    /// Returns the time until the lease on a job ends unless it is renewed; `nil` when no worker holds the job.
    public func leaseLeft(id: UUID) async throws(PostgresError) -> Duration? {
        let query: PostgresQuery = """
            SELECT extract(epoch FROM lease_until - now())::double precision AS seconds FROM image_jobs
            WHERE id = \(id) AND status = 'processing' AND deadline_at > now() AND lease_until > now()
              AND \(unescaped: Self.isVisible)
            """
        return try await db.query(query.readOnly()).first.map { row throws(PostgresError) in .seconds(try row.decode("seconds")) }
    }

    /// Records the progress of a job; it never decreases.
    ///
    /// - Parameter percent: 0 to 99; completion sets 100.
    /// - Returns: The recorded progress, which may be higher; `nil` when the job has ended or is deleted.
    public func progress(id: UUID, percent: Int) async throws(PostgresError) -> Int? {
        let rows = try await db.query(
            """
            UPDATE image_jobs SET percent = greatest(percent, \(min(max(percent, 0), 99)))
            WHERE id = \(id) AND status = 'processing' AND \(unescaped: Self.isVisible)
            RETURNING percent
            """)
        return try rows.first?.decode("percent")
    }

    /// Settles a job with its picture: `processing → completed`.
    ///
    /// Accepts the picture of any worker, even one that has lost the lease: the current holder learns of the end from the row.
    ///
    /// - Returns: Whether this call settled it. `false` when it had ended or was deleted; then the caller must not publish anything.
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

    /// Settles a job without a picture: `processing → failed`.
    ///
    /// - Parameter worker: The holder of the lease; a worker that has lost it cannot fail the job, as its successor may be paying for
    ///   a picture.
    /// - Returns: Whether this call settled it. `false`: it had ended, was deleted, or is held by another worker; the caller must not
    ///   publish anything.
    public func fail(id: UUID, worker: UUID, _ failure: ImageJob.Failure) async throws(PostgresError) -> Bool {
        try await db.execute(
            """
            UPDATE image_jobs SET status = 'failed', completed_at = now(), worker = NULL, lease_until = NULL,
                                  error_code = \(failure.code.rawValue), error_message = \(failure.message)
            WHERE id = \(id) AND status = 'processing' AND worker = \(worker) AND \(unescaped: Self.isVisible)
            """) == 1
    }

    /// Fails at most `limit` jobs that are past their deadline: `pending | processing → failed`.
    ///
    /// Skips jobs that another transaction has locked.
    ///
    /// - Returns: The jobs this call settled. Publish their event and push in the same transaction.
    public func failOverdue(_ failure: ImageJob.Failure, limit: Int) async throws(PostgresError) -> [ImageJob] {
        let rows = try await db.query(
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
            """)
        return try rows.map(ImageJob.init(row:))
    }
}
