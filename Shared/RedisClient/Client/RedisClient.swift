import AsyncPrimitives
public import Logging
import NIOCore
import NIOPosix
public import ServiceLifecycle
import Synchronization

/// A client of one Redis server, or of a Redis Cluster (7.0 or later, RESP2), as the endpoint of the configuration says.
///
/// All tasks share one connection for each server: commands that they send at the same time leave in one write. The connection is made on
/// first use, and again after a loss. Commands that were not sent wait for the new connection; sent commands fail with an error that says
/// that they may have been executed. Blocking commands need a dedicated connection: ``dedicatedConnection(for:)``.
public final class RedisClient: RedisCommandSender, Service {
    private struct State {
        var machine: ConnectionStateMachine<RedisConnection, Waiter>
        var dedicated: [UInt64: RedisConnection] = [:]
        var lastDedicated: UInt64 = 0
        var isShutDown = false
    }

    private typealias Waiter = CheckedContinuation<Result<RedisConnection, RedisError>, Never>

    /// The configuration that the client was created with.
    public let configuration: RedisConfiguration
    private let logger: Logger
    private let eventLoop: any EventLoop
    private let connector: Result<RedisConnector, RedisError>
    private let state: Mutex<State>
    /// The servers of a cluster; nil for one server.
    let cluster: RedisCluster?
    /// Called with the reason when a connection that was made ends.
    private let onConnectionEnd: @Sendable (RedisError) -> Void

    /// Creates a client that connects on first use.
    ///
    /// When the certificate authorities cannot be read, ``run()`` and every command throw.
    public convenience init(configuration: RedisConfiguration, logger: Logger) {
        self.init(configuration, logger: logger, retries: true) { _ in }
    }

    /// Creates a client of one server of a cluster: commands that wait for a connection fail when an attempt to make it fails.
    convenience init(
        serverOfCluster configuration: RedisConfiguration, logger: Logger, onConnectionEnd: @escaping @Sendable (RedisError) -> Void
    ) {
        self.init(configuration, logger: logger, retries: false, onConnectionEnd: onConnectionEnd)
    }

    private init(
        _ configuration: RedisConfiguration, logger: Logger, retries: Bool, onConnectionEnd: @escaping @Sendable (RedisError) -> Void
    ) {
        let group = MultiThreadedEventLoopGroup.singleton
        self.configuration = configuration
        self.logger = logger
        self.onConnectionEnd = onConnectionEnd
        eventLoop = group.next()
        connector = Result { () throws(RedisError) in try RedisConnector(configuration: configuration, group: group) }
        state = Mutex(State(machine: ConnectionStateMachine(maxWaiters: configuration.maxQueuedCommands, retries: retries)))
        if case .cluster(let seeds) = configuration.endpoint {
            cluster = RedisCluster(seeds: seeds, configuration: configuration, logger: logger)
        } else {
            cluster = nil
        }
    }

    deinit {
        state.withLock { state in
            state.machine.connection?.drain()
            for connection in state.dedicated.values { connection.drain() }
        }
    }

    /// Keeps the connection up until graceful shutdown, and then shuts down.
    public func run() async throws {
        _ = try connector.get()
        if let cluster {
            cluster.refresh()
        } else if let attempt = state.withLock({ $0.machine.start() }) {
            makeAttempt(attempt)
        }
        try? await gracefulShutdown()
        await shutdown()
    }

    /// Refuses new commands, lets those under way finish within ``RedisConfiguration/drainTimeout``, and closes all connections.
    public func shutdown() async {
        if let cluster { return await cluster.shutdown() }
        let (connections, waiters) = state.withLock { state in
            state.isShutDown = true
            let (shared, waiters) = state.machine.shutDown()
            return ([shared].compactMap { $0 } + state.dedicated.values, waiters)
        }
        for waiter in waiters { waiter.resume(returning: .failure(Self.shutDownError)) }
        for connection in connections { connection.drain() }
        let limit = eventLoop.scheduleTask(in: TimeAmount(configuration.drainTimeout)) {
            for connection in connections { connection.closeNow() }
        }
        for connection in connections { await connection.waitUntilClosed() }
        limit.cancel()
    }

    // MARK: Commands

    /// Sends a command on the shared connection, or to the server of the cluster that has its keys.
    ///
    /// A command that was not sent yet when a connection ended is sent on the next one.
    public func send(_ command: RedisCommand, timeout: Duration?) async throws(RedisError) -> RedisReply {
        if let cluster { return try await cluster.pipeline([command], deadline: deadline(after: timeout))[0].checked() }
        return try await perform(timeout) { core, deadline async throws(RedisError) in
            try await core.send(command, deadline: deadline).checked()
        }
    }

    /// Sends commands on the shared connection, or each to the server of the cluster that has its keys.
    ///
    /// The replies, errors included, are in the order of the commands.
    public func pipeline(_ commands: [RedisCommand], timeout: Duration?) async throws(RedisError) -> [RedisReply] {
        if let cluster { return try await cluster.pipeline(commands, deadline: deadline(after: timeout)) }
        return try await perform(timeout) { core, deadline async throws(RedisError) in
            try await core.pipeline(commands, deadline: deadline)
        }
    }

    /// Calls `body` with the shared connection, and again with the next one when the commands had not been sent.
    private func perform<Value: Sendable>(
        _ timeout: Duration?, _ body: (ConnectionCore, NIODeadline) async throws(RedisError) -> Value
    ) async throws(RedisError) -> Value {
        let deadline = deadline(after: timeout)
        while true {
            let connection = try await sharedConnection(deadline: deadline)
            do throws(RedisError) {
                return try await body(connection.core, deadline)
            } catch {
                guard error.code == .connectionLost, !error.mayHaveExecuted else { throw error }
            }
        }
    }

    func deadline(after timeout: Duration?) -> NIODeadline {
        .now() + TimeAmount(timeout ?? configuration.commandTimeout)
    }

    private static var shutDownError: RedisError { ConnectionStateMachine<RedisConnection, Waiter>.shutDownError }
}

// MARK: The shared connection

extension RedisClient {
    private func sharedConnection(deadline: NIODeadline) async throws(RedisError) -> RedisConnection {
        if let connection = state.withLock({ $0.machine.connection }) { return connection }
        _ = try connector.get()
        let ticket = RequestTicket()
        return try await withTaskCancellationHandler {
            await withCheckedContinuation { wait(for: deadline, continuation: $0, ticket: ticket) }
        } onCancel: {
            // This takes the lock after the task became cancelled, so either the waiter is there or it will not be added.
            let waiter = state.withLock { $0.machine.removeWaiter(ticket.id.load(ordering: .relaxed)) }
            waiter?.resume(returning: .failure(RedisError(.cancelled, "the task was cancelled while it waited to connect")))
        }.get()
    }

    private func wait(for deadline: NIODeadline, continuation: Waiter, ticket: RequestTicket) {
        let access = state.withLock { state -> ConnectionStateMachine<RedisConnection, Waiter>.Access in
            if Task.isCancelled { return .refused(RedisError(.cancelled, "the task was cancelled")) }
            let access = state.machine.access()
            if case .wait(let number, _) = access {
                ticket.id.store(number, ordering: .relaxed)
                state.machine.add(continuation, as: number)
            }
            return access
        }
        switch access {
        case .use(let connection): continuation.resume(returning: .success(connection))
        case .refused(let error): continuation.resume(returning: .failure(error))
        case .wait(let number, let attempt):
            eventLoop.scheduleTask(deadline: deadline) { [weak self] in self?.waiterTimedOut(number) }
            if let attempt { makeAttempt(attempt) }
        }
    }

    /// Fails a waiter whose deadline passed.
    private func waiterTimedOut(_ number: UInt64) {
        let (waiter, reason) = state.withLock { ($0.machine.removeWaiter(number), $0.machine.lastFailure) }
        let error = RedisError(.connectionFailed, "no connection within the time limit", underlying: reason)
        waiter?.resume(returning: .failure(error))
    }

    private func makeAttempt(_ attempt: UInt64) {
        Task {
            do throws(RedisError) {
                let connection = try await connector.get().connect(dedicated: false) { [weak self] error in
                    self?.lost(attempt, error)
                }
                connected(connection, attempt)
            } catch {
                failed(error)
            }
        }
    }

    private func connected(_ connection: RedisConnection, _ attempt: UInt64) {
        guard let waiters = state.withLock({ $0.machine.connected(connection) }) else {
            connection.closeNow()
            return
        }
        logger.debug("Connected to Redis", metadata: ["redis.server": "\(configuration)"])
        for waiter in waiters { waiter.resume(returning: .success(connection)) }
        // The connection may have been lost before it was registered.
        if connection.isRetired { lost(attempt, RedisError(.connectionLost, "the connection was lost as soon as it was made")) }
    }

    private func failed(_ error: RedisError) {
        guard let retry = state.withLock({ $0.machine.failed(error) }) else { return }
        for waiter in retry.waitersToFail { waiter.resume(returning: .failure(error)) }
        guard let failures = retry.failures else { return }
        let backoff = Backoff(min: configuration.minBackoff, max: configuration.maxBackoff)
        let pause = backoff.delay(afterFailures: failures)
        logger.warning(
            "Cannot connect to Redis; retrying",
            metadata: ["error": "\(error)", "failures": "\(failures)", "pause": "\(pause)"])
        eventLoop.scheduleTask(in: TimeAmount(pause)) { [weak self] in
            guard let self, let attempt = state.withLock({ $0.machine.pauseEnded() }) else { return }
            makeAttempt(attempt)
        }
    }

    private func lost(_ attempt: UInt64, _ error: RedisError) {
        guard let next = state.withLock({ $0.machine.lost(attempt, error) }) else { return }
        logger.warning("Lost the connection to Redis; reconnecting", metadata: ["error": "\(error)"])
        onConnectionEnd(error)
        makeAttempt(next)
    }
}

// MARK: Dedicated connections

extension RedisClient {
    /// Makes a connection for the blocking reads of one caller. The caller must end it with ``RedisConnection/close()``.
    ///
    /// - Parameter key: The key that is read; it decides the server of a cluster. When the key moves to another one, the next command fails
    ///   with ``RedisServerErrorCode/moved`` or ``RedisServerErrorCode/ask`` and the connection is closed.
    /// - Throws: ``RedisError/Code/connectionFailed`` when the only attempt to connect fails.
    public func dedicatedConnection(for key: String? = nil) async throws(RedisError) -> RedisConnection {
        if let cluster { return try await cluster.dedicatedConnection(for: key) }
        let connector = try connector.get()
        let number = try state.withLock { state throws(RedisError) in
            if state.isShutDown { throw Self.shutDownError }
            state.lastDedicated += 1
            return state.lastDedicated
        }
        let connection = try await connector.connect(dedicated: true) { [weak self] error in
            _ = self?.state.withLock { $0.dedicated.removeValue(forKey: number) }
            self?.onConnectionEnd(error)
        }
        let isShutDown = state.withLock { state in
            state.dedicated[number] = connection
            return state.isShutDown
        }
        if isShutDown || connection.isRetired {
            _ = state.withLock { $0.dedicated.removeValue(forKey: number) }
            connection.closeNow()
            throw isShutDown ? Self.shutDownError : RedisError(.connectionFailed, "the connection was lost as soon as it was made")
        }
        return connection
    }
}
