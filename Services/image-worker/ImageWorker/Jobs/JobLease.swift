internal import EventBus
internal import FoundationEssentials
internal import Pictures
internal import PostgresClient

/// The lease of a job: the right of one delivery to work on it.
///
/// Two deliveries of one job can overlap, when a slow worker is taken for dead or an event is republished; without a lease
/// each of them would pay for a generator call.
struct JobLease: Sendable {
    let job: ImageJob
    private let worker: UUID

    /// Claims a job; `nil` when nothing is left to do: it is terminal, deleted or gone, or past its deadline, in which case
    /// the sweeper ends it.
    ///
    /// - Throws: `HandlerDeferral` until the end of another worker's lease: should that worker die, this delivery takes over.
    static func claim(_ id: UUID, _ postgres: PostgresClient) async throws -> JobLease? {
        let (jobs, worker) = (ImageJobRepository(postgres), UUID())
        if let job = try await jobs.begin(id: id, worker: worker) { return JobLease(job: job, worker: worker) }
        guard let left = try await jobs.leaseLeft(id: id) else { return nil }
        throw HandlerDeferral(delay: left, reason: "another worker has the job")
    }

    /// Renews the lease; returns false when the work must stop.
    func renew(_ postgres: PostgresClient) async throws -> Bool {
        try await ImageJobRepository(postgres).renewLease(id: job.id, worker: worker)
    }

    /// Records an attempt before its call and returns its number; `nil` when the call must not be made.
    func beginAttempt(_ generator: String, _ limits: ImageAttemptLimits, _ db: some PostgresQueryable) async throws -> Int? {
        try await ImageAttemptRepository(db).begin(
            jobID: job.id, worker: worker, generator: generator, limits: limits)
    }

    /// Fails the job in the transaction that publishes it; returns false when this delivery no longer holds the lease.
    func fail(_ failure: ImageJob.Failure, in transaction: PostgresTransaction) async throws -> Bool {
        try await ImageJobRepository(transaction).fail(id: job.id, worker: worker, failure)
    }

    /// Releases the job at once, even if this task is cancelled. If the release fails, the lease expires by itself.
    func release(_ postgres: PostgresClient) async {
        _ = await Task { [self] in try? await ImageJobRepository(postgres).release(id: job.id, worker: worker) }.value
    }
}
