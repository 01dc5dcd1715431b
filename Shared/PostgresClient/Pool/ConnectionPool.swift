internal import DequeModule
internal import Logging
internal import Synchronization

/// Hands work to connections. An actor whose executor is the event loop, so that all its state lives on that one thread.
actor ConnectionPool: EventLoopHandler {
    enum Phase {
        case running
        /// New work is refused, what is here is finished.
        case draining(deadline: UInt64)
        case closed
    }

    nonisolated let loop: EventLoop
    nonisolated let configuration: PostgresConfiguration
    nonisolated let logger: Logger
    /// The channels that somebody listens to, for all threads to see.
    nonisolated let heardChannels = Mutex<Set<String>>([])

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    var phase = Phase.running
    /// All connections by their token, that of LISTEN included.
    var connections: [UInt64: Connection] = [:]
    /// Those that take queries.
    var workers: [Connection] = []
    var lastConnectionID: UInt64 = 0
    var lastLease: UInt64 = 0

    /// Work that found no connection, in the order of arrival.
    var waiting = Deque<WorkUnit>()
    /// How many of ``waiting`` still want something; the others were cancelled where they stood.
    var waitingCount = 0
    /// Connections with a group of reads that has no Sync yet.
    var dirty: [Connection] = []

    var backoff: ConnectBackoff
    var connecting = 0
    var lastConnectError: PostgresError?
    var shutdownWaiters: [CheckedContinuation<Void, Never>] = []
    var listening = ListenState()

    init(configuration: PostgresConfiguration, logger: Logger, loop: EventLoop) {
        self.configuration = configuration
        self.logger = logger
        self.loop = loop
        backoff = ConnectBackoff(configuration)
    }

    // MARK: Work comes in

    /// Takes a unit from its caller, on whatever thread.
    nonisolated func accept(_ unit: WorkUnit) {
        if loop.isCurrent {
            assumeIsolated { $0.submit(unit) }
        } else {
            loop.execute { self.assumeIsolated { $0.submit(unit) } }
        }
    }

    /// Notes that the caller of a unit gave up. May come before the unit does.
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
            guard waitingCount < configuration.maxWaiting else {
                let message = "\(waitingCount) units of work are waiting for a connection already"
                return unit.finish(.failure(PostgresError(code: .queueFull, message: message)))
            }
            waiting.append(unit)
            waitingCount += 1
            openConnections()
        }
    }

    // MARK: Work goes out

    /// Gives waiting work to connections, first come, first served: nobody overtakes a unit that needs a connection to itself.
    func pump() {
        while let unit = waiting.first {
            if unit.state == .finished {
                waiting.removeFirst()
                continue
            }
            guard place(unit) else { break }
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
            settleIfFailed(connection)
        }
        return true
    }

    /// The first idle connection, else the one with the fewest reads in flight.
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
        if !best.isDirty {
            best.isDirty = true
            dirty.append(best)
        }
        return true
    }

    /// Sends the next statement of a lease, if none is under way.
    func startLeased(_ connection: Connection) {
        while connection.exclusive == nil, connection.cancelsPending == 0, let unit = connection.leaseQueue.popFirst() {
            guard unit.state != .finished else { continue }
            if case .end = unit.kind, connection.pendingBegin != nil, unit.preceding.isEmpty {
                unit.finish(.success(.nothing))
                continue
            }
            unit.connection = connection.id
            connection.sendExclusive(unit, preamble: connection.pendingBegin)
            connection.pendingBegin = nil
            settleIfFailed(connection)
        }
    }

    // MARK: The loop

    nonisolated func loopReady(token: UInt64, isReadable: Bool, isWritable: Bool) {
        assumeIsolated { pool in
            guard let connection = pool.connections[token] else { return }
            if isReadable { connection.receive() }
            if isWritable { connection.flush() }
            pool.settle(connection)
        }
    }

    nonisolated func loopDrained() {
        assumeIsolated { $0.closeGroups() }
    }

    nonisolated func loopTimeReached(_ now: UInt64) {
        assumeIsolated { $0.timeReached(now) }
    }

    private func closeGroups() {
        guard !dirty.isEmpty else { return }
        let connections = dirty
        dirty.removeAll(keepingCapacity: true)
        for connection in connections {
            connection.isDirty = false
            connection.closeGroup()
            settleIfFailed(connection)
        }
    }
}
