import Logging
import Metrics
import RedisClient
import ServiceLifecycle

/// Consumes one stream for one group: reads, hands to workers, settles what they are through with, claims from the dead.
///
/// The reader, the claimer, the settler, the tender and the workers are tasks that meet at a ``ConsumerDesk``.
struct StreamConsumer: Sendable {
    let scope: ConsumerScope
    let transport: any EventTransport
    let processor: any MessageProcessor
    let configuration: EventConsumerConfiguration
    /// Called with the messages that become dead letters, before they do.
    let onBurial: @Sendable ([Burial]) async throws -> Void
    let desk: ConsumerDesk
    let progress = ReadProgress()
    /// Falls when nothing more shall be read.
    let stopping = Latch()
    /// Falls when the workers have ended.
    let workEnded = Latch()
    /// Rings when an entry was set aside for a retry.
    let retryWaits = Bell()
    let slots: [WorkerSlot]

    init(
        scope: ConsumerScope, transport: any EventTransport, processor: any MessageProcessor,
        configuration: EventConsumerConfiguration,
        onBurial: @escaping @Sendable ([Burial]) async throws -> Void = { _ in }
    ) {
        self.scope = scope
        self.transport = transport
        self.processor = processor
        self.configuration = configuration
        self.onBurial = onBurial
        let unit = max(1, processor.unitSize(configuration))
        let workers = max(1, processor.workerCount(configuration))
        slots = (0..<workers).map { _ in WorkerSlot() }
        // Units are collected while others are worked on, so that a worker never waits for a round trip to the server.
        desk = ConsumerDesk(capacity: unit == 1 ? workers : 2 * unit * workers, unitSize: unit)
    }

    /// Consumes until graceful shutdown or cancellation, then drains: what runs may finish within the drain time, what is
    /// committed is acknowledged, everything else is handed back for another consumer.
    ///
    /// - Throws: ``EventBusError/Code/stalled`` when the read loop or a cancelled handler makes no step any more: the process
    ///   lives but does not work, and only a new start helps.
    func run() async throws(EventBusError) {
        let stall = await withTaskCancellationOrGracefulShutdownHandler {
            await withTaskGroup(of: EventBusError?.self) { group in
                group.addTask {
                    await read()
                    desk.close()
                    return nil
                }
                group.addTask { await claimAndKeep(); return nil }
                group.addTask { await tellSettlements(); return nil }
                group.addTask { await resumeRetries(); return nil }
                group.addTask { await tend() }
                group.addTask { await work(); return nil }
                var stall: EventBusError?
                for await result in group {
                    guard let result else { continue }
                    stall = result
                    stop()
                    group.cancelAll()
                    break
                }
                return stall
            }
        } onCancelOrGracefulShutdown: {
            stop()
        }
        // The task may be cancelled by now, and what is committed shall be acknowledged all the same.
        await Task { await finish() }.value
        if let stall { throw stall }
    }

    /// Begins the drain.
    func stop() {
        stopping.fall()
        desk.stop()
        retryWaits.ring()
    }

    /// Runs the workers, until the desk is closed or the drain time is over.
    private func work() async {
        await withTaskGroup(of: Bool.self) { group in
            for slot in slots {
                group.addTask {
                    await slot.run { await workOnUnits(in: slot) }
                    return true
                }
            }
            group.addTask {
                await stopping.wait()
                try? await Task.sleep(for: configuration.drainTimeout)
                return false
            }
            var running = slots.count
            for await isWorker in group {
                if isWorker {
                    running -= 1
                } else if running > 0 {
                    scope.logger.warning(
                        "Handlers did not end in time and are cancelled; their messages go to another consumer",
                        metadata: ["running": "\(running)"])
                }
                if running == 0 || !isWorker { group.cancelAll() }
            }
        }
        workEnded.fall()
        desk.settlementsWait.ring()
    }

    /// Works until there is no more work, which gives true, or until it is cancelled, which gives false.
    private func workOnUnits(in slot: WorkerSlot) async -> Bool {
        var outages = 0
        while let unit = await desk.next() {
            let start = ContinuousClock.now
            slot.begin(start)
            let results = await processor.process(unit, in: scope)
            slot.end()
            scope.metrics.handling.record(duration: ContinuousClock.now - start)
            settle(unit, results)
            // A dependency that is away fails everything: read no faster than it can recover.
            outages = results.allSatisfy(\.isOutage) ? outages + 1 : 0
            if outages > 0 { await stopping.wait(upTo: configuration.pause.after(failures: outages)) }
            if Task.isCancelled { return false }
        }
        return true
    }
}

extension ProcessingResult {
    /// Whether the handler could not work because what it depends on is away.
    fileprivate var isOutage: Bool {
        if case .failed(let error) = self { RetryPolicy.isOutage(error) } else { false }
    }
}
