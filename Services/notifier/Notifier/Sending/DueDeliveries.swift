internal import EventBus
internal import Logging
internal import PostgresClient
internal import ServiceLifecycle
internal import Storage
internal import WireFormat

/// Takes over the deliveries that nobody else will: those that were put off and are due, and those whose sender has
/// died. Any number of instances may run; a delivery is with one of them at a time.
///
/// Having them wait in the database, not in a handler, keeps a fault of FCM from holding up the lane behind it.
struct DueDeliveries: Service {
    let pipeline: PushPipeline
    let limits: DeliveryLimits
    let logger: Logger

    /// Sends what is due until a graceful shutdown.
    func run() async throws {
        await withDiscardingTaskGroup { group in
            for lane in Lane.allCases { group.addTask { await work(on: lane) } }
        }
    }

    private func work(on lane: Lane) async {
        while !Task.isCancelled && !Task.isShuttingDownGracefully {
            if let closure = pipeline.closure(of: lane) {
                await sleep(min(closure.wait, limits.pollIntervalMax))
                continue
            }
            do {
                let count = try await pipeline.feed(lane, limits.dueBatchSize) { lease in
                    try await pipeline.postgres.withTransaction { transaction in
                        // They are due until they have ended: a claim that is forgotten is made again.
                        try await transaction.commitAsynchronously()
                        try await transaction.findByKey()
                        return try await DeliveryRepository(transaction).claimDue(
                            lane: lane, limit: limits.dueBatchSize, lease: lease)
                    }
                }
                if count == 0 { await sleep(try await pauseUntilDue(lane)) }
            } catch {
                if Task.isCancelled { return }
                logger.warning("Looking for due deliveries failed; trying again", metadata: ["error": "\(error)"])
                await sleep(limits.pollIntervalMax)
            }
        }
    }

    /// How long to sleep when nothing is due: nothing that is put off meanwhile is due before a retry's first wait, but for what is
    /// given back because it waited for others that are on their way.
    private func pauseUntilDue(_ lane: Lane) async throws -> Duration {
        let isBusy = pipeline.queue.figures.inFlight > 0
        let longest = min(isBusy ? limits.pollIntervalBusy : limits.pollIntervalMax, pipeline.sender.retryPolicy.delayMin)
        let wait = try await DeliveryRepository(pipeline.postgres).timeUntilDue(lanes: [lane]) ?? longest
        return max(min(wait, longest), limits.pollIntervalMin)
    }

    private func sleep(_ duration: Duration) async {
        try? await cancelWhenGracefulShutdown { try await Task.sleep(for: duration) }
    }
}
