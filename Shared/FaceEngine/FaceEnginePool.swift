public import Imaging
internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Engines on threads of their own, so that a computation of tens of milliseconds never holds up the cooperative pool.
///
/// What is asked for waits in a queue of limited length. A task that is cancelled while it waits takes its work out of
/// the queue; work that has begun is finished (it takes some 30 ms) and its result dropped. A thread that examines an ordinary photo
/// interrupts it between two steps for photos of high precedence, so that those wait for a step and not for a photo.
public final class FaceEnginePool: Sendable {
    private struct Job {
        let id: UInt64
        let precedence: Precedence
        let work: @Sendable (FaceEngine) -> Void
        let abandon: @Sendable (FaceEngineError) -> Void
    }

    private struct State {
        var queue: [Job] = []
        var nextID: UInt64 = 0
        /// Tasks that were cancelled before their work was in the queue, or while it ran.
        var cancelled: Set<UInt64> = []
        var isClosed = false
        var runningThreads = 0
        var afterLastThread: [CheckedContinuation<Void, Never>] = []
    }

    /// Which of two photos that wait is examined first.
    public enum Precedence: Sendable {
        /// Before all that is ordinary, however long that has waited.
        case high
        /// In the order of arrival.
        case ordinary
    }

    private let state = Mutex(State())
    private let jobs = CountingSemaphore()
    private let maxQueued: Int

    /// Starts the threads and returns once every engine is ready and has checked itself, which takes some 0.6 s.
    ///
    /// - Parameters:
    ///   - modelsDirectory: Where the two model files are.
    ///   - threads: How many photos are worked on at once; more than there are cores does not help.
    ///   - maxQueued: How much work may wait before more is refused with `overloaded`.
    /// - Throws: ``FaceEngineError`` with `badModel` or `selfCheckFailed`.
    public static func start(
        modelsDirectory: String, threads: Int, maxQueued: Int = 256
    ) async throws(FaceEngineError) -> FaceEnginePool {
        precondition(threads > 0 && maxQueued > 0, "a pool has a thread and room for work")
        let pool = FaceEnginePool(maxQueued: maxQueued)
        let ready: Result<Void, FaceEngineError> = await withCheckedContinuation { continuation in
            pool.startThread { [pool] in
                do throws(FaceEngineError) {
                    let engine = try FaceEngine(models: FaceModels(directory: modelsDirectory))
                    try SelfCheck.run(engine)
                    for _ in 1..<threads {
                        let copy = try EngineHandover(copying: engine)
                        pool.startThread { copy.take() }
                    }
                    continuation.resume(returning: .success(()))
                    return engine
                } catch {
                    continuation.resume(returning: .failure(error))
                    return nil
                }
            }
        }
        do {
            try ready.get()
        } catch {
            await pool.shutdown()
            throw error
        }
        return pool
    }

    private init(maxQueued: Int) { self.maxQueued = maxQueued }

    /// Decodes a photo and looks at it.
    ///
    /// - Throws: ``FaceEngineError`` with `failed`, `overloaded`, `closed` or `cancelled`. A bad photo is a result.
    public func analyse(
        _ photo: [UInt8], for purpose: PhotoPurpose, precedence: Precedence = .ordinary
    ) async throws(FaceEngineError) -> PhotoAnalysis {
        try await run(precedence: precedence) { engine throws(FaceEngineError) in try engine.analyse(photo, for: purpose) }
    }

    /// Looks at a decoded photo that has not been scaled.
    ///
    /// - Throws: The same errors as for a file.
    public func analyse(_ image: RGBImage, for purpose: PhotoPurpose) async throws(FaceEngineError) -> PhotoAnalysis {
        try await run { engine throws(FaceEngineError) in try engine.analyse(image, originalScale: 1, for: purpose) }
    }

    /// Runs something on an engine's thread.
    func run<Value: Sendable>(
        precedence: Precedence = .ordinary,
        _ body: @escaping @Sendable (FaceEngine) throws(FaceEngineError) -> Value
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

    /// Refuses more work, abandons what waits, and returns when the threads have ended.
    public func shutdown() async {
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

    // MARK: Queue

    /// How much work waits for a thread.
    var queuedCount: Int { state.withLock { $0.queue.count } }

    private func enqueue(_ job: Job) {
        let refusal: FaceEngineError? = state.withLock { state in
            if state.isClosed { return FaceEngineError(.closed, "the pool is shut down") }
            if state.cancelled.contains(job.id) { return FaceEngineError(.cancelled, "cancelled before it was begun") }
            guard state.queue.count < maxQueued else {
                return FaceEngineError(.overloaded, "\(maxQueued) photos are waiting already")
            }
            let firstOrdinary = job.precedence == .high ? state.queue.firstIndex { $0.precedence == .ordinary } : nil
            state.queue.insert(job, at: firstOrdinary ?? state.queue.endIndex)
            return nil
        }
        // Outside the lock: resuming a task may run code of anybody.
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

    // MARK: Threads

    private func startThread(_ makeEngine: @escaping @Sendable () -> FaceEngine?) {
        state.withLock { $0.runningThreads += 1 }
        startDetachedThread { [self] in
            // Its own function, so that the engine is gone before the thread is counted as ended.
            serve(makeEngine)
            ImageDecoder.leaveThread()
            let waiters = state.withLock { state in
                state.runningThreads -= 1
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
            if let job { run(job, on: engine) } else if isClosed { return }
        }
    }

    private func run(_ job: Job, on engine: FaceEngine) {
        // Not retained: the engine holds the closure.
        if job.precedence == .ordinary { engine.beforeStep = { [self, unowned engine] in runHigh(on: engine) } }
        job.work(engine)
        engine.beforeStep = nil
    }

    /// Does all work of high precedence that waits, and then lets the ordinary work go on that was interrupted for it.
    private func runHigh(on engine: FaceEngine) {
        let resume = engine.beforeStep
        engine.beforeStep = nil
        // What is taken here leaves its signal in the semaphore: a thread wakes once in vain for it.
        while let job = state.withLock({ $0.queue.first?.precedence == .high ? $0.queue.removeFirst() : nil }) { job.work(engine) }
        engine.beforeStep = resume
    }
}
