internal import NIOCore
public import NIOPosix

/// The threads that process images, and the memory budget that their work shares.
public struct PictureThreads: Sendable {
    /// The default memory budget: 352 MiB. It holds a picture that takes the most, such as one of 40 megapixels that cannot be decoded row
    /// by row or a style of 4,096 pixels a side, and an ordinary one beside it; a process uses some 80 MiB in addition.
    public static let defaultMemory = 352 << 20

    /// The thread pool of the process: one thread per processor.
    public static let sharedPool: NIOThreadPool = {
        let pool = NIOThreadPool(numberOfThreads: System.coreCount)
        pool.start()
        return pool
    }()

    /// The thread pool of the process with ``defaultMemory``.
    public static let shared = PictureThreads()

    /// The thread pool.
    public let pool: NIOThreadPool
    /// The memory budget.
    public let memory: MemoryBudget
    /// The threads that this work may occupy at once; nil for all.
    private var slots: MemoryBudget?

    /// Creates a thread pool with its own memory budget.
    ///
    /// - Parameters:
    ///   - pool: A running pool.
    ///   - memory: The budget in bytes.
    public init(pool: NIOThreadPool = Self.sharedPool, memory: Int = Self.defaultMemory) {
        self.pool = pool
        self.memory = MemoryBudget(bytes: memory)
    }

    /// The same threads for work that leaves half of them to other work: at least one, if there are two or more.
    ///
    /// It uses the same memory budget, which holds the largest picture and an ordinary one beside it: this work has only one or a few
    /// pictures at once.
    public func leavingHalf() -> PictureThreads {
        var threads = self
        threads.slots = MemoryBudget(bytes: max(1, pool.numberOfThreads / 2))
        return threads
    }

    /// Runs work on a thread once its share of memory is free.
    ///
    /// - Parameters:
    ///   - share: Computes the memory that the work needs, in bytes; it also runs on a thread.
    ///   - deadline: The end of the wait for memory.
    /// - Throws: `CancellationError` when the task is cancelled, or the deadline passes, before the work begins; errors of the work.
    public func run<Value: Sendable>(
        taking share: @escaping @Sendable () -> Int, until deadline: ContinuousClock.Instant? = nil,
        _ work: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        guard let slots else { return try await runNow(share, deadline, work) }
        return try await slots.withShare(of: 1, until: deadline) { try await runNow(share, deadline, work) }
    }

    private func runNow<Value: Sendable>(
        _ share: @escaping @Sendable () -> Int, _ deadline: ContinuousClock.Instant?, _ work: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        let share = try await pool.runIfActive(share)
        return try await memory.withShare(of: share, until: deadline) { try await pool.runIfActive(work) }
    }
}
