internal import EventBus
internal import FoundationEssentials
internal import Pictures
internal import PostgresClient
internal import WireFormat

/// Records and publishes the progress of a job: the newest percentage per interval, never a smaller one.
struct ProgressReporter: Sendable {
    /// The minimum time between two updates.
    static let interval: Duration = .milliseconds(700)

    private let figures: AsyncStream<Int>
    private let continuation: AsyncStream<Int>.Continuation

    init() {
        (figures, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Takes a percentage; returns at once.
    func report(_ percent: Int) { continuation.yield(percent) }

    /// Writes progress until cancelled.
    ///
    /// - Throws: ``JobCancelled`` when the job was deleted or has ended.
    func run(_ job: ImageJob, postgres: PostgresClient) async throws {
        var told = job.percent
        for await percent in figures where percent > told {
            let noted = try await postgres.withTransaction { transaction in
                let noted = try await ImageJobRepository(transaction).progress(id: job.id, percent: percent)
                if noted == percent {
                    let event = ImageProgress(jobID: job.id, state: .processing, percent: percent)
                    try await OutboxRepository(transaction).publish(
                        event, requestID: job.requestID, traceparent: job.traceparent, expiresAt: job.deadlineAt)
                }
                return noted
            }
            guard let noted else { throw JobCancelled() }
            told = noted
            try await Task.sleep(for: Self.interval)
        }
    }
}
