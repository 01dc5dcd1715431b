internal import AsyncPrimitives
internal import EventBus
internal import FoundationEssentials
internal import Logging
internal import Pictures
internal import PostgresClient
internal import ServiceDefaults
internal import WireFormat

/// Runs an image job to its terminal state, publishes its completion and push, and deletes the upload.
///
/// The terminal state, the inbox mark and the events are one transaction, so a second delivery or a second worker has no
/// effect. Only that transaction publishes a push, never a failed attempt.
struct ImageRequestedHandler: EventHandler {
    /// Deliveries after which a job that keeps failing with retryable errors is failed.
    private static let maxDeliveries = 8
    /// Worker crashes after which a job is failed; fewer than those after which the bus dead-letters the entry without a failure.
    static let maxCrashes = 4

    let postgres: PostgresClient
    let runner: JobRunner
    let cleanup: JobCleanup

    func handle(_ event: Envelope<ImageRequested>, _ context: HandlerContext) async throws {
        guard try await !context.isHandled() else { return }
        var logger = context.logger
        logger[metadataKey: "job"] = "\(event.body.jobID)"
        guard let lease = try await JobLease.claim(event.body.jobID, postgres) else { return }
        let job = lease.job
        do {
            let end = try await end(of: lease, context, logger)
            guard try await commit(end, of: lease, event, context) else { throw JobCancelled() }
            ImageWorkerMetrics.ended(job, end)
            logger.info("job ended", metadata: ["status": "\(end.status.rawValue)", "template": "\(job.templateID)"])
            let cleanup = cleanup
            // A task of its own, so that a worker which is stopping still deletes the upload.
            _ = await Task { [hasPicture = end.status == .completed] in
                await cleanup.attempt(job.id, logger) { try await cleanup.deleteInputs(of: job, hasPicture: hasPicture) }
            }.value
        } catch is JobCancelled {
            logger.info("job was cancelled")
            let cleanup = cleanup
            _ = await Task { await cleanup.attempt(job.id, logger) { try await cleanup.deleteIfGone(job.id) } }.value
        } catch {
            await lease.release(postgres)
            throw error
        }
    }

    /// Runs the job and returns its outcome.
    private func end(of lease: JobLease, _ context: HandlerContext, _ logger: Logger) async throws -> JobCompletion {
        // A picture that crashes the process throws no error, so crashes are counted.
        guard context.crashes < Self.maxCrashes else {
            logger.error("job failed after too many crashes")
            return .failed(.init(safely: .processingFailed))
        }
        do {
            return .completed(try await runner.run(lease, logger))
        } catch let error as JobFailure {
            logger.notice("job failed", metadata: ["reason": "\(error)"])
            return .failed(error.failure)
        } catch  where Self.isExhausted(error, context) {
            logger.error("job failed after too many attempts", metadata: ["error": "\(error)"])
            return .failed(.init(safely: .processingFailed))
        }
    }

    /// Returns whether a retryable error occurred in the last allowed delivery. While a dependency is unavailable the job waits, until its
    /// deadline.
    private static func isExhausted(_ error: any Error, _ context: HandlerContext) -> Bool {
        switch error {
        case is JobCancelled, is HandlerDeferral, is CancellationError: false
        default: !error.isDependencyUnavailable && context.deliveryCount >= maxDeliveries
        }
    }

    /// Commits the outcome; returns false when the job has ended or was deleted, or when it fails but another worker holds it.
    private func commit(
        _ end: JobCompletion, of lease: JobLease, _ event: Envelope<ImageRequested>, _ context: HandlerContext
    ) async throws -> Bool {
        do {
            return try await context.commit { transaction in
                let isOurs =
                    switch end {
                    case .completed(let result):
                        try await ImageJobRepository(transaction).complete(id: lease.job.id, result: result)
                    case .failed(let failure): try await lease.fail(failure, in: transaction)
                    }
                guard isOurs else { throw JobCancelled() }
                try await end.publish(lease.job, traceparent: event.traceparent, in: transaction)
                guard let next = try await ImageJobRepository(transaction).nextTurn(after: lease.job) else { return }
                try await OutboxRepository(transaction).request(next)
            } != nil
        } catch is JobCancelled {
            return false
        }
    }
}
