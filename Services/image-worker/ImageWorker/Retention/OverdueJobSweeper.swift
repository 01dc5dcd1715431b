internal import FoundationEssentials
internal import Logging
internal import PostgresClient
internal import ServiceDefaults
internal import ServiceLifecycle
internal import Storage
internal import WireFormat

/// Fails jobs past their deadline that no worker has ended: their worker died, or none was free.
///
/// A worker ends its own jobs at their deadline; the sweeper acts a little later. Any number of instances may sweep.
struct OverdueJobSweeper: Service {
    /// Jobs per transaction.
    private static let batchSize = 100

    let postgres: PostgresClient
    let cleanup: JobCleanup
    var interval: Duration = .seconds(2)
    let logger: Logger

    func run() async throws {
        await periodically("sweep of overdue jobs", every: interval, logger: logger) { try await sweep() }
    }

    /// Fails all overdue jobs.
    func sweep() async throws {
        while try await sweepBatch() == Self.batchSize {}
    }

    private func sweepBatch() async throws -> Int {
        let failure = ImageJob.Failure(safely: .timeout)
        let overdue = try await postgres.withTransaction { transaction in
            let overdue = try await ImageJobRepository(transaction).failOverdue(failure, limit: Self.batchSize)
            for job in overdue { try await JobCompletion.failed(failure).publish(job, traceparent: job.traceparent, in: transaction) }
            return overdue
        }
        guard !overdue.isEmpty else { return 0 }
        logger.notice("overdue jobs failed", metadata: ["count": "\(overdue.count)"])
        for job in overdue {
            ImageWorkerMetrics.ended(job, .failed(failure))
            await cleanup.attempt(job.id, logger) { try await cleanup.deleteInputs(of: job, hasPicture: false) }
        }
        return overdue.count
    }
}
