internal import AsyncPrimitives
internal import Synchronization

/// A queue of photos, and the threads that analyse them, each with an engine of its own.
final class EngineQueue: Sendable {
    /// The work on a photo.
    struct Job {
        let id: UInt64
        let precedence: FaceEnginePool.Precedence
        let work: @Sendable (FaceEngine) -> Void
        /// Called in place of `work`.
        let abandon: @Sendable (FaceEngineError) -> Void
    }

    private struct State {
        var queue: [Job] = []
        var nextID: UInt64 = 0
        /// Jobs whose task was cancelled before they were queued, or while they ran.
        var cancelled: Set<UInt64> = []
        var isClosed = false
        var runningThreads = 0
        var afterLastThread: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())
    private let jobs = CountingSemaphore()
    private let maxQueued: Int

    /// - Parameter maxQueued: The maximum number of waiting jobs; more are refused with `overloaded`.
    init(maxQueued: Int) { self.maxQueued = maxQueued }

    /// The number of waiting jobs.
    var count: Int { state.withLock { $0.queue.count } }

    /// Runs a job on an engine's thread.
    ///
    /// - Throws: `FaceEngineError` with `overloaded`, `closed` or `cancelled`, and what the job throws.
    func run<Value: Sendable>(
        _ precedence: FaceEnginePool.Precedence, _ body: @escaping @Sendable (FaceEngine) throws(FaceEngineError) -> Value
    ) async throws(FaceEngineError) -> Value {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        let result: Result<Value, FaceEngineError> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                enqueue(
                    Job(
                        id: id, precedence: precedence,
                        work: { engine in
                            continuation.resume(returning: Result { () throws(FaceEngineError) in try body(engine) })
                        },
                        abandon: { continuation.resume(returning: .failure($0)) }))
            }
        } onCancel: {
            cancel(id)
        }
        state.withLock { _ = $0.cancelled.remove(id) }
        return try result.get()
    }

    private func enqueue(_ job: Job) {
        let refusal: FaceEngineError? = state.withLock { state in
            if state.isClosed { return FaceEngineError(.closed, "the pool is shut down") }
            if state.cancelled.contains(job.id) { return FaceEngineError(.cancelled, "cancelled before it was begun") }
            guard state.queue.count < maxQueued else {
                return FaceEngineError(.overloaded, "\(maxQueued) photos are waiting already")
            }
            let firstLower = state.queue.firstIndex { $0.precedence < job.precedence }
            state.queue.insert(job, at: firstLower ?? state.queue.endIndex)
            return nil
        }
        // Outside the lock: resuming a task may run arbitrary code.
        if let refusal { job.abandon(refusal) } else { jobs.signal() }
    }

    private func cancel(_ id: UInt64) {
        let waiting: Job? = state.withLock { state in
            guard let index = state.queue.firstIndex(where: { $0.id == id }) else {
                state.cancelled.insert(id)
                return nil
            }
            return state.queue.remove(at: index)
        }
        waiting?.abandon(FaceEngineError(.cancelled, "cancelled before it was begun"))
    }

    /// Refuses new jobs, abandons waiting ones, and returns when the threads have ended.
    func shutdown() async {
        let (abandoned, threads) = state.withLock { state in
            state.isClosed = true
            defer { state.queue = [] }
            return (state.queue, state.runningThreads)
        }
        for job in abandoned { job.abandon(FaceEngineError(.closed, "the pool is shut down")) }
        for _ in 0..<threads { jobs.signal() }
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                if state.runningThreads > 0 { state.afterLastThread.append(continuation) }
                return state.runningThreads == 0
            }
            if isOver { continuation.resume() }
        }
    }

    // MARK: Threads

    /// Starts a thread, and calls `makeEngine` on it for the engine of the thread; without an engine the thread ends.
    func startThread(_ makeEngine: @escaping @Sendable () -> FaceEngine?) {
        state.withLock { $0.runningThreads += 1 }
        startDetachedThread { [self] in
            // A separate function, so that the engine is released before the thread counts as ended.
            serve(makeEngine)
            let waiters = state.withLock { state in
                state.runningThreads -= 1
                precondition(state.runningThreads >= 0, "a thread ended twice")
                guard state.runningThreads == 0 else { return [CheckedContinuation<Void, Never>]() }
                defer { state.afterLastThread = [] }
                return state.afterLastThread
            }
            for waiter in waiters { waiter.resume() }
        }
    }

    private func serve(_ makeEngine: @Sendable () -> FaceEngine?) {
        guard let engine = makeEngine() else { return }
        while true {
            jobs.wait()
            let (job, isClosed) = state.withLock { state in
                (state.queue.isEmpty ? nil : state.queue.removeFirst(), state.isClosed)
            }
            // The semaphore holds a signal for each job that was cancelled or that has interrupted another.
            if let job { run(job, on: engine) } else if isClosed { return }
        }
    }

    private func run(_ job: Job, on engine: FaceEngine) {
        precondition(engine.beforeStep == nil, "an engine runs one job at a time, or one that has interrupted another")
        // Not retained: the engine holds the closure.
        if job.precedence < .high {
            engine.beforeStep = { [self, unowned engine] in runBefore(job.precedence, on: engine) }
        }
        job.work(engine)
        engine.beforeStep = nil
    }

    /// Runs all waiting jobs of a higher precedence, before the interrupted job continues.
    private func runBefore(_ precedence: FaceEnginePool.Precedence, on engine: FaceEngine) {
        func next() -> Job? {
            state.withLock { state in
                guard let first = state.queue.first, first.precedence > precedence else { return nil }
                return state.queue.removeFirst()
            }
        }
        let (resume, start, interrupted) = (engine.beforeStep, ContinuousClock.now, engine.interruptedTime)
        engine.beforeStep = nil
        while let job = next() { run(job, on: engine) }
        engine.beforeStep = resume
        // A job that has interrupted this one may itself have been interrupted: its whole time is lost to this one, once.
        engine.interruptedTime = interrupted + (ContinuousClock.now - start)
    }
}
