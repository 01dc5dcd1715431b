public import FoundationEssentials
public import PostgresClient

/// Reads and writes `image_attempts`.
///
/// An attempt counts as paid from the moment it is written, unless its outcome says that it cost nothing: a worker that crashes in
/// between may have paid.
public struct ImageAttemptRepository: Sendable {
    let db: any PostgresQueryable

    /// Works on a client or inside a transaction. An attempt must be committed before the call.
    public init(_ db: some PostgresQueryable) {
        self.db = db
    }

    /// Records that a generator is about to be called.
    ///
    /// - Returns: The number of the attempt; `nil` when the limits are reached, or this worker does not hold the job's lease.
    ///   The generator must not be called then.
    public func begin(
        jobID: UUID, worker: UUID, generator: String, limits: ImageAttemptLimits = ImageAttemptLimits()
    ) async throws(PostgresError) -> Int? {
        let rows = try await db.query(
            """
            WITH counted AS (
                UPDATE image_jobs SET attempts = attempts + 1, paid_attempts = paid_attempts + 1
                WHERE id = \(jobID) AND status = 'processing' AND \(unescaped: ImageJobRepository.isVisible)
                  AND worker = \(worker) AND lease_until > now()
                  AND attempts < \(limits.maxAttempts) AND paid_attempts < \(limits.maxPaidAttempts)
                RETURNING id, attempts
            )
            INSERT INTO image_attempts (job_id, number, generator) SELECT id, attempts, \(generator) FROM counted
            RETURNING number
            """)
        return try rows.first?.decode("number")
    }

    /// Records the outcome of a call, once; a second outcome of the same attempt is ignored.
    ///
    /// - Returns: Whether this call recorded it.
    @discardableResult
    public func finish(jobID: UUID, number: Int, outcome: ImageAttempt.Outcome) async throws(PostgresError) -> Bool {
        var raw: (key: String, model: String, durationMs: Int?)?
        if case .generated(let key, let model, let durationMs) = outcome { raw = (key, model, durationMs) }
        let rows = try await db.query(
            """
            WITH ended AS (
                UPDATE image_attempts
                SET outcome = \(outcome.name), raw_key = \(raw?.key), model_used = \(raw?.model),
                    duration_ms = \(raw?.durationMs), finished_at = now()
                WHERE job_id = \(jobID) AND number = \(number) AND finished_at IS NULL
                RETURNING job_id
            ), refunded AS (
                UPDATE image_jobs SET paid_attempts = paid_attempts - 1
                FROM ended WHERE id = ended.job_id AND \(outcome == .free)
            )
            SELECT job_id FROM ended
            """)
        return !rows.isEmpty
    }

    /// Returns the attempts of a job, oldest first.
    public func list(jobID: UUID) async throws(PostgresError) -> [ImageAttempt] {
        let query: PostgresQuery = "SELECT * FROM image_attempts WHERE job_id = \(jobID) ORDER BY number"
        return try await db.query(query.readOnly()).map(ImageAttempt.init(row:))
    }
}
