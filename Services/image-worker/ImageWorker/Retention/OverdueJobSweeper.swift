internal import FoundationEssentials
internal import Logging
internal import PostgresClient
internal import ServiceDefaults
internal import ServiceLifecycle
internal import Storage
internal import WireFormat

/// Ends jobs that nobody ended in time: their worker died, or none came to them.
///
/// A worker ends its own at their deadline; this comes a little after it. Any number of instances may sweep.
struct OverdueJobSweeper: Service {
    /// Jobs that one transaction takes.
    private static let batchSize = 100

    let postgres: PostgresClient
    let remains: JobRemains
    var interval: Duration = .seconds(2)
    let logger: Logger

    func run() async throws {
        await periodically("sweep of overdue jobs", every: interval, logger: logger) { try await sweep() }
    }

    /// Sweeps once.
    func sweep() async throws {
        while try await sweepBatch() == Self.batchSize {}
    }

    private func sweepBatch() async throws -> Int {
        let failure = ImageJob.Failure(safely: .timeout)
        let overdue = try await postgres.withTransaction { transaction in
            let overdue = try await ImageJobRepository(transaction).failOverdue(failure, limit: Self.batchSize)
            for job in overdue { try await JobEnd.failed(failure).publish(job, traceparent: job.traceparent, in: transaction) }
            return overdue
        }
        guard !overdue.isEmpty else { return 0 }
        logger.notice("overdue jobs ended", metadata: ["count": "\(overdue.count)"])
        for job in overdue {
            ImageWorkerMetrics.ended(job, .failed(failure))
            await remains.attempt(job.id, logger) { try await remains.deleteInputs(of: job, hasPicture: false) }
        }
        return overdue.count
    }
}
