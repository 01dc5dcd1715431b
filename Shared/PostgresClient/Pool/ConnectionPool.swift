internal import DequeModule
internal import Logging
internal import Synchronization

/// Assigns work units to connections. An actor whose executor is the event loop, so that one thread uses all of its state.
actor ConnectionPool: EventLoopHandler {
    enum Phase {
        case running
        /// New work is refused, accepted work is finished.
        case draining(deadline: UInt64)
        case closed
    }

    nonisolated let loop: EventLoop
    nonisolated let configuration: PostgresConfiguration
    nonisolated let logger: Logger
    /// The channels that have listeners; readable from all threads.
    nonisolated let listenedChannels = Mutex<Set<String>>([])

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    var phase = Phase.running
    /// All connections by their token, the one for LISTEN included.
    var connections: [UInt64: Connection] = [:]
    /// The connections that take queries.
    var workers: [Connection] = []
    var lastConnectionID: UInt64 = 0
    var lastLease: UInt64 = 0

    /// Units that found no free connection, in the order of arrival.
    var waiting = Deque<WorkUnit>()
    /// The number of units in ``waiting`` that are not finished; the others were stopped while they waited.
    var waitingCount = 0
    /// Connections with a group of reads that has no Sync so far.
    var connectionsWithOpenGroup: [Connection] = []

    var backoff: ConnectBackoff
    var connecting = 0
    var lastConnectError: PostgresError?
    /// The last time at which the server has answered, or the outcome of an attempt to connect was known.
    var lastProgress: UInt64 = 0
    /// Since when work has waited without any progress (no unit completed, nothing learned about the server), in nanoseconds of the
    /// monotonic clock; 0 when no work waits. Written on the loop, read on all threads.
    nonisolated let stalledSince = Atomic<UInt64>(0)
    var shutdownWaiters: [CheckedContinuation<Void, Never>] = []
    var listening: ListenState

    init(configuration: PostgresConfiguration, logger: Logger, loop: EventLoop) {
        self.configuration = configuration
        self.logger = logger
        self.loop = loop
        backoff = ConnectBackoff(configuration)
        listening = ListenState(configuration)
    }

    // MARK: Accepting work

    /// Accepts a unit from its caller, on any thread.
    nonisolated func accept(_ unit: WorkUnit) {
        if loop.isCurrent {
            assumeIsolated { $0.submit(unit) }
        } else {
            loop.execute { self.assumeIsolated { $0.submit(unit) } }
        }
    }

    /// Stops a unit whose task was cancelled. May be called before ``accept(_:)``.
    nonisolated func cancel(_ unit: WorkUnit) {
        unit.isCancelled.store(true, ordering: .relaxed)
        loop.execute { self.assumeIsolated { $0.stop(unit, .cancelled) } }
    }

    func submit(_ unit: WorkUnit) {
        unit.isSubmitted = true
        guard !unit.isCancelled.load(ordering: .relaxed) else { return unit.finish(.failure(.cancelled)) }
        loop.wake(at: unit.deadline)
        switch unit.kind {
        case .leased(let lease), .script(let lease), .end(let lease):
            guard let connection = connections[lease.connection] else {
                return unit.finish(.failure(PostgresError(code: .connectionLost, message: "the connection was lost")))
            }
            guard connection.lease == lease else { return unit.finish(.failure(.transactionEnded)) }
            connection.leaseQueue.append(unit)
            startLeased(connection)
        case .read, .exclusive, .lease:
            guard case .running = phase else { return unit.finish(.failure(.closed)) }
            if waitingCount == 0, place(unit) { return }
            guard waitingCount < (isUnreachable ? configuration.maxWaitingUnreachable : configuration.maxWaiting) else {
                let message = "\(waitingCount) queries and transactions are already waiting for a connection"
                return unit.finish(.failure(PostgresError(code: .queueFull, message: message, underlying: lastConnectError)))
            }
            unit.waitingSince = LoopClock.now
            waiting.append(unit)
            waitingCount += 1
            loop.wake(at: waitingDeadline(of: unit))
            openConnections()
        }
    }

    // MARK: Assigning work

    /// Assigns waiting units to connections, first come, first served: no unit overtakes a unit that needs a connection to itself.
    func pump() {
        while let unit = waiting.first {
            if unit.state == .finished {
                waiting.removeFirst()
                continue
            }
            if waitingDeadline(of: unit) <= LoopClock.now {
                unit.finish(.failure(unavailability))
            } else {
                guard place(unit) else { break }
            }
            waiting.removeFirst()
            waitingCount -= 1
        }
        if waitingCount > 0 { openConnections() }
    }

    private func place(_ unit: WorkUnit) -> Bool {
        if case .read = unit.kind { return placeRead(unit) }
        guard let connection = workers.first(where: \.isIdle) else { return false }
        unit.connection = connection.id
        if case .lease = unit.kind {
            lastLease += 1
            let lease = LeaseID(connection: connection.id, number: lastLease)
            connection.lease = lease
            connection.pendingBegin = unit.query.sql.isEmpty ? nil : unit.query.sql
            unit.finish(.success(.lease(lease)))
        } else {
            connection.sendExclusive(unit)
            scheduleProcessingIfFailed(connection)
        }
        return true
    }

    /// Assigns a read to the first idle connection, else to the connection with the fewest reads in flight; false when no connection
    /// accepts it.
    private func placeRead(_ unit: WorkUnit) -> Bool {
        var best: Connection?
        for connection in workers where connection.acceptsRead(limit: configuration.maxPipelinedReads) {
            if connection.inFlight == 0 {
                best = connection
                break
            }
            if connection.inFlight < best?.inFlight ?? .max { best = connection }
        }
        guard let best else { return false }
        if best.inFlight > 0, workers.count + connecting < configuration.maxConnections { openConnections(atLeast: 1) }
        unit.connection = best.id
        best.sendRead(unit, maxGroup: configuration.maxPipelinedReads)
        if !best.hasOpenGroup {
            best.hasOpenGroup = true
            connectionsWithOpenGroup.append(best)
        }
        return true
    }

    /// Sends the next statement of a lease, if no statement is in progress.
    func startLeased(_ connection: Connection) {
        while connection.exclusive == nil, connection.pendingCancels == 0, let unit = connection.leaseQueue.popFirst() {
            guard unit.state != .finished else { continue }
            if case .end = unit.kind, connection.pendingBegin != nil, unit.preceding.isEmpty {
                unit.finish(.success(.nothing))
                continue
            }
            unit.connection = connection.id
            connection.sendExclusive(unit, preamble: connection.pendingBegin)
            connection.pendingBegin = nil
            scheduleProcessingIfFailed(connection)
        }
    }

    // MARK: The loop

    nonisolated func loopReady(token: UInt64, isReadable: Bool, isWritable: Bool) {
        assumeIsolated { pool in
            guard let connection = pool.connections[token] else { return }
            if isReadable { connection.receive() }
            if isWritable { connection.flush() }
            pool.processOutputs(of: connection)
        }
    }

    nonisolated func loopDrained() {
        assumeIsolated { $0.closeGroups() }
    }

    nonisolated func loopTimeReached(_ now: UInt64) {
        assumeIsolated { $0.timeReached(now) }
    }

    private func closeGroups() {
        guard !connectionsWithOpenGroup.isEmpty else { return }
        let connections = connectionsWithOpenGroup
        connectionsWithOpenGroup.removeAll(keepingCapacity: true)
        for connection in connections {
            connection.hasOpenGroup = false
            connection.closeGroup()
            scheduleProcessingIfFailed(connection)
        }
    }
}
