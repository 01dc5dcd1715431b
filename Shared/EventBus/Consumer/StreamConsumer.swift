import AsyncPrimitives
import FoundationEssentials
import Logging
import Metrics
import ServiceLifecycle

/// Consumes one stream for one group: reads entries, has workers handle them, settles them, and claims the entries of dead consumers.
///
/// The reader, the claimer, the settler, the maintenance and the workers are tasks that share a ``StreamConsumerState``.
struct StreamConsumer: Sendable {
    let scope: ConsumerScope
    let transport: any EventTransport
    let processor: any MessageProcessor
    let configuration: EventConsumerConfiguration
    let deadLetters: any DeadLetterStore
    let state: StreamConsumerState
    let progress: ReadProgress
    let policy: DispositionPolicy
    /// Opens when reading shall end.
    let stopping = AsyncLatch()
    /// Opens after the first attempt of a heartbeat, before which nothing is read.
    let hasBeaten = AsyncLatch()
    /// Opens when the workers have ended.
    let workEnded = AsyncLatch()
    /// Opens when a part of the consumer makes no progress any more.
    let stalled = AsyncLatch()
    /// Signalled when a claim is due before the next interval.
    let claimNow = AsyncSignal()
    /// Signalled when an entry was scheduled for a retry.
    let retryAdded = AsyncSignal()
    let slots: [WorkerSlot]
    /// The slot of the worker that handles suspects.
    let suspectSlot = WorkerSlot()
    let isolation: IsolationLane
    let outageLog: LogLimit

    init(
        scope: ConsumerScope, transport: any EventTransport, processor: any MessageProcessor,
        deadLetters: any DeadLetterStore, configuration: EventConsumerConfiguration, isolation: IsolationLane = IsolationLane()
    ) {
        self.scope = scope
        self.transport = transport
        self.processor = processor
        self.configuration = configuration
        self.deadLetters = deadLetters
        self.isolation = isolation
        outageLog = LogLimit(every: .seconds(30), clock: scope.clock)
        progress = ReadProgress(clock: scope.clock)
        policy = DispositionPolicy(group: scope.group, retryPolicy: configuration.retryPolicy)
        let unit = max(1, processor.unitSize(configuration))
        let workers = max(1, processor.workerCount(configuration))
        slots = (0..<workers).map { _ in WorkerSlot() }
        // Twice the batches in work: the next one is read meanwhile, so that a worker never waits for a round trip to the server. Of single
        // messages no more than there are workers: a handler may take minutes, and another consumer can begin what would wait here.
        state = StreamConsumerState(capacity: unit == 1 ? workers : 2 * unit * workers, unitSize: unit)
    }

    /// Consumes until graceful shutdown or cancellation, then drains: running handlers may finish within the drain time, committed entries
    /// are acknowledged, all others are released for another consumer.
    ///
    /// - Throws: ``EventBusError/Code/stalled`` when the read loop or a cancelled handler makes no progress any more: the process runs
    ///   but does not work and has to be restarted. Tasks that do not end are abandoned.
    func run() async throws(EventBusError) {
        let end = OneShot<EventBusError?>()
        let tasks = Task { end.complete(await runTasks()) }
        let drain = Task {
            await stopping.wait()
            try? await scope.clock.sleep(for: configuration.drainTimeout + Self.abandonGrace)
            end.complete(EventBusError(.stalled, "handlers of \(scope.stream) do not end"))
        }
        let stall = await withTaskCancellationHandler {
            await withGracefulShutdownHandler {
                await end.wait()
            } onGracefulShutdown: {
                stop()
            }
        } onCancel: {
            stop()
            tasks.cancel()
        }
        if stall != nil { stalled.open() }
        stop()
        tasks.cancel()
        drain.cancel()
        // A separate task, because this task may be cancelled, and committed entries must be acknowledged all the same.
        await Task { await finish() }.value
        if let stall { throw stall }
    }

    /// The time in which cancelled handlers have to end after the drain time.
    private static var abandonGrace: Duration { .seconds(2) }

    /// Runs all tasks until they have ended, or until the maintenance finds a stalled task.
    private func runTasks() async -> EventBusError? {
        let maintenance = Task { await maintain() }
        let working = Task {
            await withTaskGroup { group in
                group.addTask {
                    await read()
                    state.close()
                }
                group.addTask { await claimAndKeep() }
                group.addTask { await sendSettlements() }
                group.addTask { await resumeRetries() }
                group.addTask { await work() }
            }
        }
        return await withTaskCancellationHandler {
            // The maintenance ends after the work, or with a stall; then the other tasks are abandoned.
            let stall = await maintenance.value
            if stall == nil { await working.value } else { working.cancel() }
            return stall
        } onCancel: {
            maintenance.cancel()
            working.cancel()
        }
    }

    /// Begins to drain.
    func stop() {
        stopping.open()
        state.stop()
        retryAdded.signal()
        claimNow.signal()
    }

    /// Runs the workers until the state is closed and empty, or the drain time is over.
    private func work() async {
        await withTaskGroup(of: Bool.self) { group in
            for slot in slots {
                group.addTask {
                    await slot.run { await workOnUnits(in: slot) }
                    return true
                }
            }
            group.addTask {
                await suspectSlot.run { await workOnSuspects(in: suspectSlot) }
                return true
            }
            group.addTask {
                await stopping.wait()
                try? await scope.clock.sleep(for: configuration.drainTimeout)
                return false
            }
            var running = slots.count + 1
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
        workEnded.open()
        claimNow.signal()
        state.settlementAdded.signal()
    }
}
