internal import Pictures
internal import PostgresClient
internal import WireFormat

/// Fails jobs past their deadline that no worker has ended: their worker died, or none was free.
///
/// A worker ends its own jobs at their deadline; this acts a little later.
struct OverdueJobs: Sendable {
    let postgres: PostgresClient

    /// Fails at most `limit` jobs and publishes their completions in one transaction. The step `image_uploads` deletes their objects.
    ///
    /// - Returns: The number of failed jobs.
    func fail(limit: Int) async throws -> Int {
        let failure = ImageJob.Failure(safely: .timeout)
        let overdue = try await postgres.withTransaction { transaction in
            let overdue = try await ImageJobRepository(transaction).failOverdue(failure, limit: limit)
            for job in overdue { try await JobCompletion.failed(failure).publish(job, traceparent: job.traceparent, in: transaction) }
            return overdue
        }
        for job in overdue { ImageWorkerMetrics.ended(job, .failed(failure)) }
        return overdue.count
    }
}
