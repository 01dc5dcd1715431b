/// Handles the events of an event loop; called on the thread of the loop only.
protocol EventLoopHandler: AnyObject, Sendable {
    /// A watched file descriptor is readable, writable or broken.
    func loopReady(token: UInt64, isReadable: Bool, isWritable: Bool)
    /// All enqueued work has run: send the collected commands now.
    func loopDrained()
    /// The time requested with ``EventLoop/wake(at:)`` has come.
    func loopTimeReached(_ now: UInt64)
}

/// One thread with one epoll set, which is also an executor.
///
/// The connections run on it; tasks may run on it too, and then a query needs no thread switch. The thread ends when the loop is
/// released.
final class EventLoop: SerialExecutor, TaskExecutor {
    private let core: EventLoopCore

    /// Starts the thread.
    init(name: String) throws(PostgresError) {
        core = try EventLoopCore(name: name)
        core.serialExecutor = UnownedSerialExecutor(ordinary: self)
        core.taskExecutor = UnownedTaskExecutor(ordinary: self)
        core.loop = self
        guard HelperThread.run({ [core] in core.run() }) else {
            throw PostgresError(code: .connectionLost, message: "no thread available for the event loop")
        }
    }

    deinit {
        core.stop()
    }

    /// Sets the handler of events; held weakly. Call once, before watching a file descriptor.
    func setHandler(_ handler: any EventLoopHandler) {
        execute { [core, weak handler] in core.handler = handler }
    }

    /// Whether the caller runs on the thread of the loop.
    var isCurrent: Bool { core.isCurrent }

    /// Enqueues the body to run on the loop.
    func execute(_ body: @escaping @Sendable () -> Void) {
        core.enqueue(.closure(body))
    }

    func enqueue(_ job: consuming ExecutorJob) {
        core.enqueue(.job(UnownedJob(job)))
    }

    func checkIsolated() {
        precondition(isCurrent, "not on the event loop")
    }

    func isIsolatingCurrentContext() -> Bool? {
        isCurrent
    }

    func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

    func asUnownedTaskExecutor() -> UnownedTaskExecutor { UnownedTaskExecutor(ordinary: self) }

    // MARK: On the loop only

    /// Watches a file descriptor, level-triggered, for input.
    func add(_ descriptor: Int32, token: UInt64) -> Bool { core.add(descriptor, token: token) }

    /// Starts or stops watching a file descriptor for room to write as well.
    func setWantsWrite(_ wanted: Bool, _ descriptor: Int32, token: UInt64) {
        core.setWantsWrite(wanted, descriptor, token: token)
    }

    /// Stops watching a file descriptor; call it before the descriptor is closed.
    func remove(_ descriptor: Int32) { core.remove(descriptor) }

    /// Requests a call of ``EventLoopHandler/loopTimeReached(_:)`` at `time`; an earlier request stays in force.
    func wake(at time: UInt64) { core.wakeTime = min(core.wakeTime, time) }
}
