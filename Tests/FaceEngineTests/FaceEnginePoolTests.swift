import AsyncPrimitives
import Imaging
import Logging
import Synchronization
import TestSupport
import Testing

@testable import FaceEngine

@Suite struct FaceEnginePoolTests {
    private func makePool(threads: Int = 1, maxQueued: Int = 256) async throws -> FaceEnginePool {
        try await FaceEnginePool.start(
            modelsDirectory: try PackageRoot.file(".cache/models"), threads: threads, decoder: Engines.decoder, maxQueued: maxQueued)
    }

    /// Occupies a thread of the pool until it is released.
    private final class Blocker: Sendable {
        private let gate = CountingSemaphore()
        private let begun = AsyncStream<Void>.makeStream()

        func occupy(_ pool: FaceEnginePool, _ precedence: FaceEnginePool.Precedence = .ordinary) async -> Task<Void, any Error> {
            let task = Task { try await pool.run(precedence: precedence) { _ throws(FaceEngineError) in self.begin() } }
            await hasBegun()
            return task
        }

        /// Blocks the thread that calls it.
        func begin() {
            begun.continuation.yield()
            gate.wait()
        }

        func hasBegun() async { for await _ in begun.stream { break } }

        func release() { gate.signal() }
    }

    /// The finished jobs, in their order.
    private final class Log: Sendable {
        let names = Mutex<[String]>([])
    }

    @Test func `a missing or wrong model prevents the start`() async throws {
        let error = await #expect(throws: FaceEngineError.self) {
            try await FaceEnginePool.start(modelsDirectory: "/nonexistent", threads: 1, decoder: Engines.decoder)
        }
        #expect(error?.code == .badModel)
        #expect(error?.message.contains("FACE_MODELS_PATH") == true)
    }

    @Test func `every thread has its own engine, and all engines give the same result`() async throws {
        let pool = try await makePool(threads: 2)
        let photo = try Photos.read("person-a/front-1")
        let faces = try await race(8) { _ in try await pool.analyse(photo, for: .signUp).face }
        #expect(Set(faces.map { $0?.descriptor.values ?? [] }).count == 1)
        await pool.shutdown()
    }

    @Test func `cancelling a task removes its waiting job from the queue`() async throws {
        let pool = try await makePool()
        let blocker = Blocker()
        let running = await blocker.occupy(pool)
        let hasRun = Mutex(false)
        let waiting = Task { try await pool.run { _ throws(FaceEngineError) in hasRun.withLock { $0 = true } } }
        waiting.cancel()
        let error = await #expect(throws: FaceEngineError.self) { try await waiting.value }
        #expect(error?.code == .cancelled)
        blocker.release()
        try await running.value
        // A later job has run to its end, so the cancelled one, which was before it in the queue, never runs.
        try await pool.run { _ throws(FaceEngineError) in }
        #expect(hasRun.withLock { !$0 })
        await pool.shutdown()
    }

    @Test func `jobs run by their precedence, and those of one precedence in the order of arrival`() async throws {
        let pool = try await makePool()
        let blocker = Blocker()
        let running = await blocker.occupy(pool)
        let done = Log()
        var tasks: [Task<Void, any Error>] = []
        let arrivals: [(String, FaceEnginePool.Precedence)] = [
            ("ordinary 1", .ordinary), ("high 1", .high), ("ordinary 2", .ordinary), ("high 2", .high),
        ]
        for (name, precedence) in arrivals {
            tasks.append(
                Task {
                    try await pool.run(precedence: precedence) { _ throws(FaceEngineError) in done.names.withLock { $0.append(name) } }
                })
            let count = tasks.count
            try await eventually("\(name) waits") { pool.queuedCount == count }
        }
        blocker.release()
        for task in tasks { try await task.value }
        #expect(done.names.withLock { $0 } == ["high 1", "high 2", "ordinary 1", "ordinary 2"])
        try await running.value
        await pool.shutdown()
    }

    @Test func `a running job is interrupted for those of higher precedence`() async throws {
        let pool = try await makePool()
        let (blocker, done) = (Blocker(), Log())
        let photo = try Photos.read("person-a/front-1")
        func analyse(_ name: String, _ precedence: FaceEnginePool.Precedence, after blocker: Blocker? = nil) -> Task<[Float]?, any Error> {
            Task {
                try await pool.run(precedence: precedence) { engine throws(FaceEngineError) in
                    blocker?.begin()
                    let analysis = try engine.analyse(photo, for: .signUp)
                    done.names.withLock { $0.append(name) }
                    return analysis.face?.descriptor.values
                }
            }
        }
        let ordinary = analyse("ordinary", .ordinary, after: blocker)
        await blocker.hasBegun()
        let high = analyse("high", .high)
        try await eventually("the high one waits") { pool.queuedCount == 1 }
        blocker.release()
        let descriptors = [try await ordinary.value, try await high.value]
        #expect(done.names.withLock { $0 } == ["high", "ordinary"])
        #expect(descriptors[0] != nil && Set(descriptors).count == 1, "one photo left something in the engine for another")
        await pool.shutdown()
    }

    @Test func `photos of the background occupy no thread of the others`() async throws {
        let pool = try await makePool()
        let blocker = Blocker()
        let running = await blocker.occupy(pool, .background)
        let waiting = Task { try await pool.run(precedence: .background) { _ throws(FaceEngineError) in } }
        try await eventually("the second one waits") { pool.queuedCount == 1 }
        for precedence in [FaceEnginePool.Precedence.ordinary, .high] { try await pool.run(precedence: precedence) { _ in } }
        #expect(pool.queuedCount == 1)
        blocker.release()
        try await running.value
        try await waiting.value
        await pool.shutdown()
    }

    @Test func `photos of the background are analysed on threads of a lower priority`() async throws {
        let pool = try await makePool()
        let own = niceness(of: 0)
        let others = try await pool.run { _ in niceness(of: 0) }
        let background = try await pool.run(precedence: .background) { _ in niceness(of: 0) }
        #expect(others == own && background == min(19, own + 10))
        await pool.shutdown()
    }

    @Test func `only photos of the background are decoded with a lower priority`() async throws {
        let decoder = ImageDecoder(sandbox: .required, logger: Logger(label: "face-engine-tests") { _ in SwiftLogNoOpLogHandler() })
        let pool = try await FaceEnginePool.start(modelsDirectory: try PackageRoot.file(".cache/models"), threads: 1, decoder: decoder)
        let photo = try Photos.read("person-a/front-1")
        let own = niceness(of: 0)
        func priorities() -> [Int32] { decoder.idleProcesses.map { niceness(of: $0) }.sorted() }
        for precedence in [FaceEnginePool.Precedence.high, .ordinary] {
            _ = try await pool.examine(photo, for: .signUp, precedence: precedence)
        }
        #expect(priorities() == [own])
        _ = try await pool.examine(photo, for: .signUp, precedence: .background)
        #expect(priorities() == [own, min(19, own + 10)])
        await pool.shutdown()
    }

    @Test func `the time of an interruption is not that of the interrupted photo`() async throws {
        let pool = try await makePool()
        let blocker = Blocker()
        let ordinary = Task {
            try await pool.run { engine throws(FaceEngineError) in
                let start = ContinuousClock.now
                let (_, time) = try engine.timed { () throws(FaceEngineError) in
                    blocker.begin()
                    engine.beforeStep?()
                }
                return (time: time, total: ContinuousClock.now - start)
            }
        }
        await blocker.hasBegun()
        let high = Task {
            try await pool.run(precedence: .high) { _ throws(FaceEngineError) in
                let start = ContinuousClock.now
                while ContinuousClock.now - start < .milliseconds(20) {}
                return ContinuousClock.now - start
            }
        }
        try await eventually("the high one waits") { pool.queuedCount == 1 }
        blocker.release()
        let (interruption, measured) = (try await high.value, try await ordinary.value)
        #expect(measured.time + interruption <= measured.total)
        await pool.shutdown()
    }

    @Test func `jobs beyond the queue's limit are refused at once`() async throws {
        let pool = try await makePool(maxQueued: 1)
        let blocker = Blocker()
        let running = await blocker.occupy(pool)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<2 { group.addTask { try await pool.run { _ throws(FaceEngineError) in } } }
            // The waiting job cannot end while the engine is occupied, so the first result is that of the refused one.
            let first = await group.nextResult()
            let error = #expect(throws: FaceEngineError.self) { try first?.get() }
            #expect(error?.code == .overloaded)
            blocker.release()
            try await group.waitForAll()
        }
        try await running.value
        await pool.shutdown()
    }

    @Test func `shutdown abandons waiting jobs, finishes running ones and ends the threads`() async throws {
        let pool = try await makePool(threads: 2)
        let blockers = [Blocker(), Blocker()]
        let running = [await blockers[0].occupy(pool), await blockers[1].occupy(pool)]
        let waiting = Task { try await pool.run { _ throws(FaceEngineError) in } }
        let stopping = Task { await pool.shutdown() }
        let abandoned = await #expect(throws: FaceEngineError.self) { try await waiting.value }
        #expect(abandoned?.code == .closed)
        for blocker in blockers { blocker.release() }
        for task in running { try await task.value }
        await stopping.value
        let error = await #expect(throws: FaceEngineError.self) { try await pool.analyse([], for: .signIn) }
        #expect(error?.code == .closed)
    }

    @Test func `the self-check passes here and fails on a network that answers differently`() async throws {
        _ = try SelfCheck.fastestNetworks(FaceModels(directory: PackageRoot.file(".cache/models")))
        let golden = SelfCheck.goldenDescriptor
        var wrong = golden
        for value in [golden[64] + 0.001, .nan] {
            wrong[64] = value
            #expect(throws: FaceEngineError.self) { try SelfCheck.compare(wrong, with: golden, computedWith: .portable) }
        }
        #expect(throws: FaceEngineError.self) { try SelfCheck.compare([], with: golden, computedWith: .portable) }
    }

    @Test func `the self-check takes rounded numbers of products of 8 bits, and no other direction`() throws {
        let golden = SelfCheck.goldenDescriptor
        let rounded = golden.enumerated().map { $1 + ($0.isMultiple(of: 2) ? 0.02 : -0.02) }
        try SelfCheck.compare(rounded, with: golden, computedWith: .vnni)
        #expect(throws: FaceEngineError.self) { try SelfCheck.compare(rounded, with: golden, computedWith: .avx512) }
        for wrong in [golden.enumerated().map { $1 + ($0.isMultiple(of: 2) ? 0.2 : -0.2) }, golden.map { $0 * .nan }, []] {
            #expect(throws: FaceEngineError.self) { try SelfCheck.compare(wrong, with: golden, computedWith: .vnni) }
        }
    }
}
