internal import EventBus
internal import Logging
internal import PostgresClient
internal import Push
internal import ServiceLifecycle
internal import WireFormat

/// Claims the deliveries that are due: deferred deliveries, and deliveries of dead senders. Any number of instances may run; only one at a
/// time holds the claim of a delivery.
///
/// Deferred deliveries wait in the database, not in a handler, so that a fault of FCM does not block the lane behind them.
struct DueDeliveries: Service {
    let pipeline: PushPipeline
    let limits: DeliveryLimits
    let logger: Logger

    /// Sends due deliveries until a graceful shutdown.
    func run() async throws {
        await withDiscardingTaskGroup { group in
            for lane in Lane.allCases { group.addTask { await work(on: lane) } }
        }
    }

    private func work(on lane: Lane) async {
        var isAfterOutage = false
        while !Task.isCancelled && !Task.isShuttingDownGracefully {
            if let suspension = pipeline.suspension(of: lane) {
                await sleep(min(suspension.wait, limits.maxPollInterval))
                continue
            }
            do {
                if isAfterOutage {
                    _ = try await DeliveryRepository(pipeline.postgres).timeUntilDue(lanes: [lane])
                    await sleep(limits.outageHoldOff)
                    isAfterOutage = false
                }
                let count = try await pipeline.feed(lane, limits.dueBatchSize) { lease in
                    try await pipeline.postgres.withTransaction { transaction in
                        // They stay due until they are settled: a claim that an asynchronous commit loses is made again.
                        try await transaction.commitAsynchronously()
                        try await transaction.forceIndexPlans()
                        return try await DeliveryRepository(transaction).claimDue(
                            lane: lane, limit: limits.dueBatchSize, lease: lease)
                    }
                }
                if count == 0 { await sleep(try await pauseUntilDue(lane)) }
            } catch {
                if Task.isCancelled { return }
                logger.warning("claiming due deliveries failed, will be retried", metadata: ["error": "\(error)"])
                // During an outage of the database leases end although their senders live.
                isAfterOutage = true
                await sleep(limits.maxPollInterval)
            }
        }
    }

    /// Returns the sleep when nothing is due. Deliveries deferred meanwhile are due after the shortest retry delay at the earliest,
    /// except those deferred because they waited behind pushes in flight.
    private func pauseUntilDue(_ lane: Lane) async throws -> Duration {
        let isBusy = pipeline.queue.figures.inFlight > 0
        let longest = min(isBusy ? limits.busyPollInterval : limits.maxPollInterval, pipeline.sender.retryPolicy.minDelay)
        let wait = try await DeliveryRepository(pipeline.postgres).timeUntilDue(lanes: [lane]) ?? longest
        return max(min(wait, longest), limits.minPollInterval)
    }

    private func sleep(_ duration: Duration) async {
        try? await cancelWhenGracefulShutdown { try await pipeline.clock.sleep(for: duration) }
    }
}
