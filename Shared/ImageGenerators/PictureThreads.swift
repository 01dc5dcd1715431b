internal import NIOCore
public import NIOPosix

/// Where pictures are computed: threads, and the memory that what runs on them may take together.
public struct PictureThreads: Sendable {
    /// The memory unless something else is set: 280 MiB. It is what the largest picture takes that is taken, of an encoding that
    /// cannot be decoded row by row, and an ordinary one beside it; a process holds some 80 MiB besides.
    public static let defaultMemory = 280 << 20

    /// As many threads as there are processors, for all of the process.
    public static let sharedPool: NIOThreadPool = {
        let pool = NIOThreadPool(numberOfThreads: System.coreCount)
        pool.start()
        return pool
    }()

    /// The threads of the process, with ``defaultMemory``.
    public static let shared = PictureThreads()

    /// The threads.
    public let pool: NIOThreadPool
    /// The memory.
    public let memory: MemoryBudget

    /// Makes threads with a memory of their own.
    ///
    /// - Parameters:
    ///   - pool: must be running.
    ///   - memory: bytes.
    public init(pool: NIOThreadPool = Self.sharedPool, memory: Int = Self.defaultMemory) {
        self.pool = pool
        self.memory = MemoryBudget(bytes: memory)
    }

    /// Computes something once there is memory for it.
    ///
    /// - Parameters:
    ///   - share: bytes that the work takes; computed on a thread, too.
    ///   - deadline: how long the memory is waited for.
    /// - Throws: `CancellationError` when the task is cancelled, or the deadline over, before it began; what the work throws.
    public func run<Value: Sendable>(
        taking share: @escaping @Sendable () -> Int, until deadline: ContinuousClock.Instant? = nil,
        _ work: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        let share = try await pool.runIfActive(share)
        return try await memory.withShare(of: share, until: deadline) { try await pool.runIfActive(work) }
    }
}
