internal import FoundationEssentials
internal import Logging
internal import Metrics
internal import ServiceLifecycle
internal import Synchronization

/// Delivers changes of database rows to waiting requests: at once when an event reports a change, and by polling every second.
///
/// Events are fast and may be lost; the poll is certain, and costs one query a second for all waiting requests together.
final class RowWatcher<Row: Sendable>: Service {
    /// Reads the rows with these ids that exist.
    typealias Fetch = @Sendable (_ ids: [UUID]) async throws -> [UUID: Row]

    /// The maximum numbers of waiting requests.
    struct Limits: Sendable {
        /// All requests; each holds a connection.
        var total: Int
        /// Requests for one row: one device waits for it, so more are a fault of that device, or an attack on other clients.
        var perRow = 8
        /// Requests of one account, which may wait for many rows: enough for a person's devices, and leaves room for other accounts.
        var perAccount = 32
        /// Requests of one address, which many people may share.
        var perAddress = 256
    }

    private struct State {
        var followers: [UUID: [Int: AsyncStream<Row?>.Continuation]] = [:]
        var changed: Set<UUID> = []
        var count = 0
        var countOf: [RowOwner: Int] = [:]
        var nextNumber = 0
        var isClosed = false
    }

    private let limits: Limits
    private let fetch: Fetch
    private let logger: Logger
    private let state = Mutex(State())
    private let wakeUps = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))

    init(limits: Limits, logger: Logger, fetch: @escaping Fetch) {
        self.limits = limits
        self.logger = logger
        self.fetch = fetch
    }

    /// The number of waiting requests.
    var count: Int { state.withLock { $0.count } }

    /// Reports that a row changed.
    func wake(_ id: UUID) {
        let isWaitedFor = state.withLock { state in
            guard state.followers[id] != nil else { return false }
            state.changed.insert(id)
            return true
        }
        if isWaitedFor { wakeUps.continuation.yield() }
    }

    /// Follows a row: the stream delivers it at once, whenever it changes, and every second; nil when the row does not exist. The stream
    /// ends when the service shuts down or the client hangs up; release the subscription to stop.
    ///
    /// - Parameters:
    ///   - owner: The owner whose share of the limits is used.
    ///   - whenClientHangsUp: Registers the given handler for the end of the connection; the handler ends the stream.
    /// - Throws: `overloaded` when too many requests wait already, `rate_limited` when too many wait for this row or from this owner.
    func follow(
        _ id: UUID, for owner: RowOwner, whenClientHangsUp: (@escaping @Sendable () -> Void) -> Void
    ) throws(APIError) -> RowSubscription<Row> {
        let (stream, continuation) = AsyncStream<Row?>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let number = try register(continuation, for: id, of: owner)
        whenClientHangsUp { continuation.finish() }
        wake(id)
        return RowSubscription(rows: stream) { [weak self] in
            continuation.finish()
            if let number { self?.unregister(number, for: id, of: owner) }
        }
    }

    /// Waits until a row satisfies a condition, or the time is up, or the sign-in ends, or the service shuts down, or the client hangs up.
    ///
    /// - Parameter signIn: The sign-in of the client; nil for a client whose token belongs to the row itself.
    /// - Returns: The row that satisfies the condition; nil when the wait ended for another reason, or the row does not exist.
    func wait(
        for id: UUID, of owner: RowOwner, while signIn: SignInWatch? = nil, upTo time: Duration,
        whenClientHangsUp: (@escaping @Sendable () -> Void) -> Void, until isWished: @escaping @Sendable (Row) -> Bool
    ) async throws(APIError) -> Row? {
        let subscription = try follow(id, for: owner, whenClientHangsUp: whenClientHangsUp)
        return await withTaskGroup(of: Row?.self) { group in
            group.addTask {
                for await row in subscription.rows {
                    guard let row else { return nil }
                    if isWished(row) { return row }
                }
                return nil
            }
            group.addTask {
                try? await Task.sleep(for: time)
                return nil
            }
            if let signIn {
                group.addTask {
                    await signIn.end()
                    return nil
                }
            }
            let first = await group.next()
            group.cancelAll()
            return first ?? nil
        }
    }

    /// Waits like ``wait(for:of:while:upTo:whenClientHangsUp:until:)``, but returns nil at once when too many requests wait already: the
    /// caller can answer with the row as it is.
    func waitIfPossible(
        for id: UUID, of owner: RowOwner, while signIn: SignInWatch? = nil, upTo time: Duration,
        whenClientHangsUp: (@escaping @Sendable () -> Void) -> Void, until isWished: @escaping @Sendable (Row) -> Bool
    ) async -> Row? {
        do throws(APIError) {
            return try await wait(
                for: id, of: owner, while: signIn, upTo: time, whenClientHangsUp: whenClientHangsUp, until: isWished)
        } catch {
            Counter(label: "http_waits_refused_total").increment()
            return nil
        }
    }

    /// Reads the rows that requests wait for until graceful shutdown, which ends every stream.
    func run() async throws {
        await cancelWhenGracefulShutdown {
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await self.tick() }
                for await _ in self.wakeUps.stream { await self.deliver() }
                group.cancelAll()
            }
        }
        let waiting = state.withLock { state in
            state.isClosed = true
            return state.followers.values.flatMap(\.values)
        }
        for continuation in waiting { continuation.finish() }
    }

    private func tick() async {
        while !Task.isCancelled {
            try? await Task.sleep(for: .seconds(1))
            let isWaitedFor = state.withLock { state in
                state.changed.formUnion(state.followers.keys)
                return !state.changed.isEmpty
            }
            if isWaitedFor { wakeUps.continuation.yield() }
        }
    }

    private func deliver() async {
        let ids = state.withLock { state in
            defer { state.changed = [] }
            return Array(state.changed)
        }
        guard !ids.isEmpty else { return }
        do {
            let rows = try await fetch(ids)
            let deliveries = state.withLock { state in
                ids.flatMap { id in (state.followers[id] ?? [:]).values.map { ($0, rows[id]) } }
            }
            for (continuation, row) in deliveries { continuation.yield(row) }
        } catch {
            if !Task.isCancelled { logger.warning("what is waited for cannot be looked up", metadata: ["error": "\(error)"]) }
        }
    }

    private func register(
        _ continuation: AsyncStream<Row?>.Continuation, for id: UUID, of owner: RowOwner
    ) throws(APIError) -> Int? {
        try state.withLock { state throws(APIError) in
            guard !state.isClosed else {
                continuation.finish()
                return nil
            }
            guard state.followers[id, default: [:]].count < limits.perRow else {
                throw APIError.rateLimited("Too many requests are waiting for this", wait: .seconds(1))
            }
            guard state.countOf[owner, default: 0] < share(of: owner) else {
                throw APIError.rateLimited("Too many requests of yours are waiting", wait: .seconds(1))
            }
            guard state.count < limits.total else { throw APIError.overloaded("Too many requests are waiting") }
            state.count += 1
            state.countOf[owner, default: 0] += 1
            state.nextNumber += 1
            state.followers[id, default: [:]][state.nextNumber] = continuation
            return state.nextNumber
        }
    }

    private func share(of owner: RowOwner) -> Int {
        switch owner {
        case .account: limits.perAccount
        case .address: limits.perAddress
        }
    }

    private func unregister(_ number: Int, for id: UUID, of owner: RowOwner) {
        state.withLock { state in
            guard state.followers[id]?.removeValue(forKey: number) != nil else { return }
            state.count -= 1
            state.countOf[owner, default: 0] -= 1
            if state.countOf[owner] == 0 { state.countOf[owner] = nil }
            if state.followers[id]?.isEmpty == true { state.followers[id] = nil }
        }
    }
}

/// The owner of a wait for a row; waits are limited by owner.
enum RowOwner: Hashable, Sendable {
    /// A signed-in user.
    case account(UUID)
    /// The address of a client without a sign-in. Not the account that the client names: anyone could use up that account's share.
    case address(IPAddress)
}

/// A place among the requests that watch a row; it is released with its last reference.
final class RowSubscription<Row: Sendable>: Sendable {
    /// The row, each time it was read.
    let rows: AsyncStream<Row?>
    private let end: @Sendable () -> Void

    init(rows: AsyncStream<Row?>, end: @escaping @Sendable () -> Void) {
        self.rows = rows
        self.end = end
    }

    deinit { end() }
}
