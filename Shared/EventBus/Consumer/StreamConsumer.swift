import Logging
import Metrics
import RedisClient
import ServiceLifecycle

/// Consumes one stream for one group: reads, hands to workers, acknowledges what is committed, claims from the dead.
///
/// The reader, the claimer, the acknowledger and the workers are tasks that meet at a ``ConsumerDesk``.
struct StreamConsumer: Sendable {
    let scope: ConsumerScope
    let transport: any EventTransport
    let processor: any MessageProcessor
    let failurePolicy: any FailurePolicy
    let configuration: EventConsumerConfiguration
    let desk: ConsumerDesk
    /// Falls when nothing more shall be read.
    let stopping = Latch()
    /// Falls when the workers have ended.
    let workEnded = Latch()
    private let workers: Int

    init(
        scope: ConsumerScope, transport: any EventTransport, processor: any MessageProcessor,
        failurePolicy: any FailurePolicy = LeavePending(), configuration: EventConsumerConfiguration
    ) {
        self.scope = scope
        self.transport = transport
        self.processor = processor
        self.failurePolicy = failurePolicy
        self.configuration = configuration
        let unit = max(1, processor.unitSize(configuration))
        workers = max(1, processor.workerCount(configuration))
        // Units are collected while others are worked on, so that a worker never waits for a round trip to the server.
        desk = ConsumerDesk(capacity: unit == 1 ? workers : 2 * unit * workers, unitSize: unit)
    }

    /// Consumes until graceful shutdown or cancellation, then drains: what runs may finish within the drain time, what is
    /// committed is acknowledged, everything else stays pending for another consumer.
    func run() async {
        await withTaskCancellationOrGracefulShutdownHandler {
            await withTaskGroup { group in
                group.addTask {
                    await read()
                    desk.close()
                }
                group.addTask { await claimAndKeep() }
                group.addTask { await acknowledge() }
                group.addTask { await work() }
            }
        } onCancelOrGracefulShutdown: {
            stop()
        }
        // The task may be cancelled by now, and what is committed shall be acknowledged all the same.
        await Task { await finish() }.value
    }

    /// Begins the drain.
    func stop() {
        stopping.fall()
        desk.stop()
    }

    /// Runs the workers, until the queue is closed and empty or the drain time is over.
    private func work() async {
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<workers {
                group.addTask {
                    await workOnUnits()
                    return true
                }
            }
            group.addTask {
                await stopping.wait()
                try? await Task.sleep(for: configuration.drainTimeout)
                return false
            }
            var running = workers
            for await isWorker in group {
                if isWorker {
                    running -= 1
                } else if running > 0 {
                    let abandoned = desk.abandonWaiting()
                    scope.logger.warning(
                        "Handlers did not end in time and are cancelled; their messages go to another consumer",
                        metadata: ["running": "\(running)", "waiting": "\(abandoned)"])
                }
                if running == 0 || !isWorker { group.cancelAll() }
            }
        }
        workEnded.fall()
        desk.acknowledgementsWait.ring()
    }

    private func workOnUnits() async {
        var failures = 0
        while let unit = await desk.next() {
            let start = ContinuousClock.now
            let results = await processor.process(unit, in: scope)
            scope.metrics.handling.record(duration: ContinuousClock.now - start)
            await settle(unit, results)
            // A dependency that is down fails everything: read no faster than it can recover.
            failures = results.contains(where: \.isCommitted) ? 0 : failures + 1
            if failures > 0 { await stopping.wait(upTo: configuration.pause.after(failures: failures)) }
        }
    }

    /// Acknowledges what is committed and leaves the rest pending.
    private func settle(_ unit: [DeliveredEntry], _ results: [ProcessingResult]) async {
        var committed: [EntryID] = []
        committed.reserveCapacity(unit.count)
        for (entry, result) in zip(unit, results) {
            switch result {
            case .handled:
                scope.metrics.handled.increment()
                committed.append(entry.id)
            case .duplicate:
                scope.metrics.duplicates.increment()
                committed.append(entry.id)
            case .failed(let error):
                scope.metrics.failed.increment()
                await report(error, of: entry, isUnreadable: false)
            case .unreadable(let error):
                scope.metrics.unreadable.increment()
                await report(error, of: entry, isUnreadable: true)
            }
        }
        desk.settle(unit, acknowledged: committed)
    }

    private func report(_ error: any Error, of entry: DeliveredEntry, isUnreadable: Bool) async {
        let failure = FailedDelivery(
            stream: scope.stream, entryID: entry.id, deliveryCount: entry.deliveryCount, error: error,
            isUnreadable: isUnreadable)
        switch await failurePolicy.disposition(of: failure) {
        case .leavePending: break
        }
        let logger = scope.logger(for: entry.id, entry.deliveryCount)
        if error is CancellationError || Task.isCancelled {
            logger.info("A handler was cancelled; the message goes to another consumer")
        } else if isUnreadable {
            logger.error("A message cannot be read; it stays pending", metadata: ["error": "\(error)"])
        } else {
            logger.warning("A handler failed; the message stays pending", metadata: ["error": "\(error)"])
        }
    }
}
