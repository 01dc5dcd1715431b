internal import EventBus
internal import FoundationEssentials
internal import Logging
internal import PostgresClient
internal import Storage
internal import WireFormat

/// Makes the picture of an image job: upload in; terminal state, picture and push out; upload deleted.
///
/// The job's end, the inbox mark and the events are one transaction, so a second delivery, or a second worker, changes
/// nothing. A push follows from that transaction only, never from a try that failed.
struct ImageRequestedHandler: EventHandler {
    /// How often a job is tried that fails for reasons another try may mend, before it is given up.
    private static let deliveriesMax = 8
    /// How many workers may die over a job before it is given up; less than make the bus give it up unheard.
    static let crashesMax = 4

    let postgres: PostgresClient
    let work: JobWork
    let remains: JobRemains

    func handle(_ event: Envelope<ImageRequested>, _ context: HandlerContext) async throws {
        guard try await !context.isHandled() else { return }
        var logger = context.logger
        logger[metadataKey: "job"] = "\(event.body.jobID)"
        guard let hold = try await JobHold.take(event.body.jobID, postgres) else { return }
        let job = hold.job
        do {
            let end = try await end(of: hold, context, logger)
            guard try await commit(end, of: hold, event, context) else { throw JobUnwanted() }
            ImageWorkerMetrics.ended(job, end)
            logger.info("job ended", metadata: ["status": "\(end.status.rawValue)", "template": "\(job.templateID)"])
            let remains = remains
            // A worker that is told to stop still deletes what it must not keep.
            _ = await Task { [hasPicture = end.status == .completed] in
                await remains.attempt(job.id, logger) { try await remains.deleteInputs(of: job, hasPicture: hasPicture) }
            }.value
        } catch is JobUnwanted {
            logger.info("job is no longer wanted")
            let remains = remains
            _ = await Task { await remains.attempt(job.id, logger) { try await remains.deleteIfGone(job.id) } }.value
        } catch {
            await hold.release(postgres)
            throw error
        }
    }

    /// Works on the job until it is known how it ends.
    private func end(of hold: JobHold, _ context: HandlerContext, _ logger: Logger) async throws -> JobEnd {
        // A picture that kills the process throws nothing.
        guard context.crashes < Self.crashesMax else {
            logger.error("job given up after too many crashes")
            return .failed(.init(safely: .processingFailed))
        }
        do {
            return .completed(try await work.run(hold, logger))
        } catch let error as JobFailure {
            logger.notice("job fails", metadata: ["reason": "\(error)"])
            return .failed(error.failure)
        } catch where Self.isHopeless(error, context) {
            logger.error("job given up after too many tries", metadata: ["error": "\(error)"])
            return .failed(.init(safely: .processingFailed))
        }
    }

    private static func isHopeless(_ error: any Error, _ context: HandlerContext) -> Bool {
        switch error {
        case is JobUnwanted, is HandlerPostponement, is CancellationError: false
        default: context.deliveryCount >= deliveriesMax
        }
    }

    /// Ends the job, unless it has ended, is deleted, or fails and is another worker's by now; whether it did.
    private func commit(
        _ end: JobEnd, of hold: JobHold, _ event: Envelope<ImageRequested>, _ context: HandlerContext
    ) async throws -> Bool {
        do {
            return try await context.commit { transaction in
                let isOurs =
                    switch end {
                    case .completed(let result):
                        try await ImageJobRepository(transaction).complete(id: hold.job.id, result: result)
                    case .failed(let failure): try await hold.fail(failure, in: transaction)
                    }
                guard isOurs else { throw JobUnwanted() }
                try await end.publish(hold.job, traceparent: event.traceparent, in: transaction)
            } != nil
        } catch is JobUnwanted {
            return false
        }
    }
}
