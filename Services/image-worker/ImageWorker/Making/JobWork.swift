internal import FoundationEssentials
internal import Logging
internal import PostgresClient
internal import Storage
internal import WireFormat

/// Works on a job until there is a picture, the deadline is over, or nobody wants it any more.
struct JobWork: Sendable {
    /// How often the worker gives a sign of life, and looks whether the job's user deleted it or it ended elsewhere.
    static let lookInterval: Duration = .seconds(2)

    let postgres: PostgresClient
    let maker: PictureMaker

    /// Returns the picture that was made.
    ///
    /// What it started has ended when it returns.
    /// - Throws: ``JobFailure`` when there will be none, ``JobUnwanted``, or what may be mended by another try.
    func run(_ hold: JobHold, _ logger: Logger) async throws -> ImageJob.Result {
        let job = hold.job
        let deadline = ContinuousClock.now + .seconds(job.deadlineAt.timeIntervalSinceNow)
        let reporter = ProgressReporter()
        return try await withThrowingTaskGroup(of: ImageJob.Result?.self) { group in
            defer { group.cancelAll() }
            group.addTask { try await maker.make(hold, deadline: deadline, logger) { reporter.report($0) } }
            group.addTask {
                do {
                    try await reporter.run(job, postgres: postgres)
                } catch let error as PostgresError {
                    // A figure that is not told is no harm.
                    logger.debug("progress not told", metadata: ["error": "\(error)"])
                }
                return nil
            }
            group.addTask {
                try await watch(hold, until: deadline)
                return nil
            }
            while let result = try await group.next() {
                if let result { return result }
            }
            throw CancellationError()
        }
    }

    /// Throws when the job is to be worked on no longer.
    private func watch(_ hold: JobHold, until deadline: ContinuousClock.Instant) async throws {
        while ContinuousClock.now < deadline {
            try await Task.sleep(until: min(deadline, .now + Self.lookInterval))
            // When the database is away, the work goes on.
            if let isWanted = try? await hold.keep(postgres), !isWanted { throw JobUnwanted() }
        }
        throw JobFailure(.timeout, cause: "the deadline is over")
    }
}
