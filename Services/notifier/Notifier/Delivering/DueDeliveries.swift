internal import Logging
internal import ServiceLifecycle
internal import Storage

/// Takes over the deliveries that nobody else will: those that were postponed and are due, and those whose sender has
/// died. Any number of instances may run; a delivery is with one of them at a time.
///
/// Having them wait in the database, not in a handler, keeps a fault of FCM from holding up the lane behind it.
struct DueDeliveries: Service {
    let dispatcher: DeliveryDispatcher
    let limits: DeliveryLimits
    let logger: Logger

    /// Sends what is due until a graceful shutdown, then returns when what is under way is settled.
    func run() async throws {
        await withDiscardingTaskGroup { group in
            for _ in 0..<limits.dueBatchesMax { group.addTask { await work() } }
        }
    }

    private func work() async {
        while !Task.isCancelled && !Task.isShuttingDownGracefully {
            do {
                let count = try await dispatcher.dispatch(logger: logger) { deliveries, lease in
                    try await deliveries.claimDue(limit: limits.sendsMax, lease: lease)
                }
                if count == 0 { await sleep(try await pauseUntilDue()) }
            } catch {
                if Task.isCancelled { return }
                logger.warning("Looking for due deliveries failed; trying again", metadata: ["error": "\(error)"])
                await sleep(limits.pollIntervalMax)
            }
        }
    }

    /// How long to sleep when nothing is due: nothing that is postponed meanwhile is due before a retry's first wait.
    private func pauseUntilDue() async throws -> Duration {
        let longest = min(limits.pollIntervalMax, dispatcher.sender.retryPolicy.delayMin)
        let wait = try await DeliveryRepository(dispatcher.postgres).timeUntilDue() ?? longest
        return max(min(wait, longest), limits.pollIntervalMin)
    }

    private func sleep(_ duration: Duration) async {
        try? await cancelWhenGracefulShutdown { try await Task.sleep(for: duration) }
    }
}
