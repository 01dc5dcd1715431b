internal import FoundationEssentials
internal import Logging
internal import PostgresClient
internal import ServiceLifecycle
internal import Storage
internal import Synchronization

/// The requests that wait for a session to end: woken by the event, and by a look into the database every second.
///
/// The event is fast and may be lost; the look is sure and costs one query a second for all waiters together.
final class SessionWaiters: Service {
    private static let lookInterval = Duration.seconds(1)
    /// Requests that may wait for one session: one device asks, so more are a fault of it, or an attack on the others.
    static let maxPerSession = 8

    private struct State {
        var waiters: [UUID: [Int: AsyncStream<Void>.Continuation]] = [:]
        var count = 0
        var nextNumber = 0
        var isClosed = false
    }

    private let limit: Int
    private let postgres: PostgresClient
    private let logger: Logger
    private let state = Mutex(State())

    /// Makes a registry.
    ///
    /// - Parameter limit: requests that may wait at a time; each holds a connection.
    init(limit: Int, postgres: PostgresClient, logger: Logger) {
        self.limit = limit
        self.postgres = postgres
        self.logger = logger
    }

    /// Waits until the session is said to have ended, or until the time is up, or until the service shuts down, or until
    /// the client hangs up: a place that nobody waits in is not kept.
    ///
    /// - Parameter whenClientHangsUp: is given what to call then.
    /// - Parameter isOver: looks whether there is anything to wait for, once the waiter cannot miss the event any more.
    /// - Throws: `overloaded` when too many wait already, `rate_limited` when too many wait for this session.
    func wait(
        for id: UUID, upTo time: Duration, whenClientHangsUp: (@escaping @Sendable () -> Void) -> Void,
        unless isOver: () async throws -> Bool
    ) async throws {
        let (stream, continuation) = AsyncStream<Void>.makeStream()
        guard let number = try register(continuation, for: id) else { return }
        defer { unregister(number, for: id) }
        whenClientHangsUp { continuation.finish() }
        if try await isOver() { return }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { for await _ in stream {} }
            group.addTask { try? await Task.sleep(for: time) }
            await group.next()
            group.cancelAll()
        }
    }

    /// How many wait.
    var count: Int { state.withLock { $0.count } }

    /// Wakes those who wait for a session.
    func wake(_ id: UUID) {
        let woken = state.withLock { $0.waiters[id].map { Array($0.values) } ?? [] }
        for continuation in woken { continuation.finish() }
    }

    /// Looks for ended sessions until graceful shutdown, which sends every waiter its answer.
    func run() async throws {
        await cancelWhenGracefulShutdown { await self.lookAround() }
        let woken = state.withLock { state in
            state.isClosed = true
            return state.waiters.values.flatMap(\.values)
        }
        for continuation in woken { continuation.finish() }
    }

    private func lookAround() async {
        while !Task.isCancelled {
            try? await Task.sleep(for: Self.lookInterval)
            let ids = state.withLock { Array($0.waiters.keys) }
            guard !ids.isEmpty, !Task.isCancelled else { continue }
            do {
                for session in try await SessionRepository(postgres).find(ids: ids) where session.state.isTerminal {
                    wake(session.id)
                }
            } catch {
                logger.warning("waiting sessions cannot be looked up", metadata: ["error": "\(error)"])
            }
        }
    }

    private func register(_ continuation: AsyncStream<Void>.Continuation, for id: UUID) throws(APIError) -> Int? {
        try state.withLock { state throws(APIError) in
            guard !state.isClosed else { return nil }
            guard state.waiters[id, default: [:]].count < Self.maxPerSession else {
                throw APIError.rateLimited("Too many requests are waiting for this session", wait: .seconds(1))
            }
            guard state.count < limit else { throw APIError.overloaded("Too many requests are waiting") }
            state.count += 1
            state.nextNumber += 1
            state.waiters[id, default: [:]][state.nextNumber] = continuation
            return state.nextNumber
        }
    }

    private func unregister(_ number: Int, for id: UUID) {
        state.withLock { state in
            guard state.waiters[id]?.removeValue(forKey: number) != nil else { return }
            state.count -= 1
            if state.waiters[id]?.isEmpty == true { state.waiters[id] = nil }
        }
    }
}
