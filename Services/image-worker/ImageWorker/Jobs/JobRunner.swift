internal import FoundationEssentials
internal import Logging
internal import Pictures
internal import PostgresClient
internal import WireFormat

/// Runs a job until its picture is made, its deadline has passed, or it is cancelled.
struct JobRunner: Sendable {
    /// The interval at which the lease is renewed, which also detects that the job was deleted or has ended elsewhere.
    static let renewalInterval: Duration = .seconds(2)

    let postgres: PostgresClient
    /// Makes the pictures of standard jobs.
    let maker: PictureMaker
    /// Makes the pictures of bulk jobs, on a part of the threads.
    let bulkMaker: PictureMaker

    /// Makes and stores the picture, and returns its result. All child tasks have ended when it returns.
    ///
    /// - Throws: ``JobFailure`` when the job must fail, ``JobCancelled``, or an error that a retry may resolve.
    func run(_ lease: JobLease, _ logger: Logger) async throws -> ImageJob.Result {
        let job = lease.job
        let deadline = ContinuousClock.now + .seconds(job.deadlineAt.timeIntervalSinceNow)
        let reporter = ProgressReporter()
        let maker = job.lane == .bulk ? bulkMaker : maker
        return try await withThrowingTaskGroup(of: ImageJob.Result?.self) { group in
            defer { group.cancelAll() }
            group.addTask { try await maker.make(lease, deadline: deadline, logger) { reporter.report($0) } }
            group.addTask {
                do {
                    try await reporter.run(job, postgres: postgres)
                } catch let error as PostgresError {
                    // Progress is best effort: the job continues without it.
                    logger.debug("progress not published", metadata: ["error": "\(error)"])
                }
                return nil
            }
            group.addTask {
                try await watch(lease, until: deadline)
                return nil
            }
            while let result = try await group.next() {
                if let result { return result }
            }
            throw CancellationError()
        }
    }

    /// Renews the lease until the deadline; throws when the work must stop.
    private func watch(_ lease: JobLease, until deadline: ContinuousClock.Instant) async throws {
        while ContinuousClock.now < deadline {
            try await Task.sleep(until: min(deadline, .now + Self.renewalInterval))
            // The work continues while the database is unreachable.
            if let isWanted = try? await lease.renew(postgres), !isWanted { throw JobCancelled() }
        }
        throw JobFailure(.timeout, cause: "the deadline has passed")
    }
}
