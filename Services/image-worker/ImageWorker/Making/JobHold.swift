internal import EventBus
internal import FoundationEssentials
internal import PostgresClient
internal import Storage

/// A job that this delivery of it, and no other, works on.
///
/// Two deliveries at a time happen, when a worker is taken for dead or a message is published again; without a holder each of
/// them would pay a generator.
struct JobHold: Sendable {
    let job: ImageJob
    private let worker: UUID

    /// Takes a job, `nil` when nothing is left to do: it is terminal, deleted or gone, or past its deadline, where the sweeper
    /// ends it.
    ///
    /// - Throws: `HandlerPostponement` when somebody else has it: should that worker die, this delivery goes on.
    static func take(_ id: UUID, _ postgres: PostgresClient) async throws -> JobHold? {
        let (jobs, worker) = (ImageJobRepository(postgres), UUID())
        if let job = try await jobs.begin(id: id, worker: worker) { return JobHold(job: job, worker: worker) }
        guard let left = try await jobs.leaseLeft(id: id) else { return nil }
        throw HandlerPostponement(delay: left, reason: "another worker has the job")
    }

    /// Gives a sign of life; whether the work is to go on.
    func keep(_ postgres: PostgresClient) async throws -> Bool {
        try await ImageJobRepository(postgres).keep(id: job.id, worker: worker)
    }

    /// Notes that a generator is about to be called; `nil` when it must not be.
    func beginAttempt(_ generator: String, _ limits: ImageAttemptLimits, _ postgres: PostgresClient) async throws -> Int? {
        try await ImageAttemptRepository(postgres).begin(
            jobID: job.id, worker: worker, generator: generator, limits: limits)
    }

    /// Ends the job without a picture, in the transaction that tells of it; whether it was still this delivery's to end.
    func fail(_ failure: ImageJob.Failure, in transaction: PostgresTransaction) async throws -> Bool {
        try await ImageJobRepository(transaction).fail(id: job.id, worker: worker, failure)
    }

    /// Lets others have the job at once, also when this task is cancelled. What fails here ends with the lease.
    func release(_ postgres: PostgresClient) async {
        _ = await Task { [self] in try? await ImageJobRepository(postgres).release(id: job.id, worker: worker) }.value
    }
}
