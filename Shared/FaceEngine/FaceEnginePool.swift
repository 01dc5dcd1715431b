internal import AsyncPrimitives
public import Imaging
internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Runs face engines on dedicated threads, so that computations of tens of milliseconds never block the cooperative pool.
///
/// Jobs wait in a queue of limited length. A job whose task is cancelled is removed from the queue; a job that is running
/// finishes (it takes some 20 ms). A thread interrupts the analysis of a photo between two steps for photos of higher precedence, so that
/// these photos wait for a step and not for a whole analysis. The decoding of a photo is one step: photos of the lowest precedence occupy
/// half of the threads at most, and their decoders have the priority `background`, so that others need not wait for one that decodes
/// slowly.
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
        /// Jobs whose task was cancelled before they were queued, or while they ran.
        var cancelled: Set<UInt64> = []
        var isClosed = false
        /// The jobs of the lowest precedence that have begun and not ended.
        var runningLow = 0
        var runningThreads = 0
        var afterLastThread: [CheckedContinuation<Void, Never>] = []
    }

    /// The precedence of a photo in the queue: before all photos of a lower one, however long those have waited, and among its equals in
    /// the order of arrival.
    public enum Precedence: Int, Sendable, Comparable {
        case low, ordinary, high

        /// Orders the precedences as they are declared: ``low`` is the least.
        public static func < (left: Precedence, right: Precedence) -> Bool { left.rawValue < right.rawValue }
    }

    private let state = Mutex(State())
    private let jobs = CountingSemaphore()
    private let maxQueued: Int
    private let maxRunningLow: Int

    /// Starts the threads and returns once every engine is ready and the self-check has passed, which takes some 0.3 s.
    ///
    /// - Parameters:
    ///   - modelsDirectory: The directory of the three model files.
    ///   - threads: The number of photos that are analysed at once; more than the number of cores does not help.
    ///   - decoder: Decodes the photos, each thread's in a process of its own.
    ///   - maxQueued: The maximum number of waiting jobs; more are refused with `overloaded`.
    /// - Throws: ``FaceEngineError`` with `badModel`, `selfCheckFailed` or `noDecoder`.
    public static func start(
        modelsDirectory: String, threads: Int, decoder: ImageDecoder, maxQueued: Int = 256
    ) async throws(FaceEngineError) -> FaceEnginePool {
        precondition(threads > 0 && maxQueued > 0, "a pool has a thread and room for work")
        let pool = FaceEnginePool(maxQueued: maxQueued, maxRunningLow: max(1, threads / 2))
        let ready: Result<Void, FaceEngineError> = await withCheckedContinuation { continuation in
            pool.startThread { [pool] in
                do throws(FaceEngineError) {
                    try check(decoder)
                    let models = try FaceModels(directory: modelsDirectory)
                    let networks = try SelfCheck.fastestNetworks(models)
                    for _ in 1..<threads { pool.startThread { FaceEngine(networks, decoder: decoder) } }
                    continuation.resume(returning: .success(()))
                    return FaceEngine(networks, decoder: decoder)
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

    private static func check(_ decoder: ImageDecoder) throws(FaceEngineError) {
        do throws(ImagingError) { try decoder.check() } catch { throw FaceEngineError(.noDecoder, error.message) }
    }

    private init(maxQueued: Int, maxRunningLow: Int) { (self.maxQueued, self.maxRunningLow) = (maxQueued, maxRunningLow) }

    /// Decodes and analyses a photo.
    ///
    /// - Throws: ``FaceEngineError`` with `failed`, `overloaded`, `closed` or `cancelled`. A bad photo is a result.
    public func analyse(
        _ photo: [UInt8], for purpose: PhotoPurpose, precedence: Precedence = .ordinary
    ) async throws(FaceEngineError) -> PhotoAnalysis {
        try await run(precedence: precedence) { engine throws(FaceEngineError) in try engine.analyse(photo, for: purpose) }
    }

    /// Decodes and analyses a photo, and computes the digest of its picture.
    ///
    /// - Returns: The result, and the time that the photo has occupied an engine for: without its time in the queue, and without the time
    ///   of photos that interrupted it.
    /// - Throws: The errors of ``analyse(_:for:precedence:)``.
    public func examine(
        _ photo: [UInt8], for purpose: PhotoPurpose, precedence: Precedence = .ordinary
    ) async throws(FaceEngineError) -> (photo: AnalysedPhoto, engineTime: Duration) {
        try await run(precedence: precedence) { engine throws(FaceEngineError) in
            try engine.timed { () throws(FaceEngineError) in
                try engine.examine(photo, for: purpose, decoding: precedence == .low ? .background : .ordinary)
            }
        }
    }

    /// Runs a job on an engine's thread.
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

    /// Refuses new jobs, abandons waiting ones, and returns when the threads have ended.
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

    /// The number of waiting jobs.
    var queuedCount: Int { state.withLock { $0.queue.count } }

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

    // MARK: Threads

    private func startThread(_ makeEngine: @escaping @Sendable () -> FaceEngine?) {
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
            let (job, isClosed) = state.withLock { state in (next(&state), state.isClosed) }
            guard let job else {
                if isClosed { return }
                continue
            }
            run(job, on: engine)
            if job.precedence == .low { lowEnded() }
        }
    }

    /// Takes the job that a free thread begins; nil when no job may begin.
    private func next(_ state: inout State) -> Job? {
        guard let first = state.queue.first else { return nil }
        if first.precedence == .low {
            guard state.runningLow < maxRunningLow else { return nil }
            state.runningLow += 1
        }
        return state.queue.removeFirst()
    }

    /// Wakes a thread for the next job of the lowest precedence: the signal of that one was lost on a thread that might not begin it.
    private func lowEnded() {
        let hasWaiting = state.withLock { state in
            state.runningLow -= 1
            return !state.queue.isEmpty
        }
        if hasWaiting { jobs.signal() }
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
    private func runBefore(_ precedence: Precedence, on engine: FaceEngine) {
        func next() -> Job? {
            state.withLock { state in
                guard let first = state.queue.first, first.precedence > precedence else { return nil }
                return state.queue.removeFirst()
            }
        }
        let (resume, start, interrupted) = (engine.beforeStep, ContinuousClock.now, engine.interruptedTime)
        engine.beforeStep = nil
        // The semaphore still holds the signals of these jobs: for each of them a thread wakes once to an empty queue.
        while let job = next() { run(job, on: engine) }
        engine.beforeStep = resume
        // A job that has interrupted this one may itself have been interrupted: its whole time is lost to this one, once.
        engine.interruptedTime = interrupted + (ContinuousClock.now - start)
    }
}
