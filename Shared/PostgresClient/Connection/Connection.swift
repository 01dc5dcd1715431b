internal import CLibPQ
internal import DequeModule

/// One connection in pipeline mode: sends work units, and matches the server's results to them.
///
/// It is used on the loop only. It does not complete units itself: it collects results in its outputs, which the pool processes.
final class Connection {
    /// A command that the server has yet to answer.
    enum Expected {
        case prepare(WorkUnit, PreparedStatement)
        /// - Parameter isOwn: Whether this is the unit's own query, and not a preceding one.
        case execute(WorkUnit, PreparedStatement, isFresh: Bool, isOwn: Bool)
        case preamble(WorkUnit)
        case deallocate(String)
        case sync
    }

    /// The units between two Syncs: one implicit transaction, which succeeds or fails as a whole.
    struct Segment {
        var units: [WorkUnit]
        /// An error at the Sync itself, such as a deferred constraint: nothing of the segment took effect.
        var error: PostgresError?
    }

    /// A unit whose statement the server was asked to stop.
    struct Stopping {
        let unit: WorkUnit
        let start: UInt64
        /// The time by which the unit must be answered.
        let deadline: UInt64
    }

    let id: UInt64
    let handle: ConnectionHandle
    private let loop: EventLoop

    /// In the order of sending.
    var expected = Deque<Expected>()
    var segments = Deque<Segment>()
    /// Reads that were sent without their Sync so far.
    private var group: [WorkUnit] = []
    /// The script that is running outside of pipeline mode.
    var script: WorkUnit?
    /// Whether a result of the first expected command has arrived.
    var hasResult = false
    var statements: StatementCache
    /// Whether statements stay prepared under a name; behind a pooler the next statement may run on a server that has not prepared it.
    private let namesStatements: Bool
    /// The names of statements to deallocate before the next preparation.
    var statementsToDeallocate: [String] = []
    private(set) var isWriteBlocked = false

    // The user of the connection. Set by the pool.
    var lease: LeaseID?
    var leaseQueue = Deque<WorkUnit>()
    /// A BEGIN that is sent with the first statement of the lease.
    var pendingBegin: String?
    /// The number of cancel requests that are under way.
    var pendingCancels = 0
    /// The unit whose statement the server was asked to stop.
    var stopping: Stopping?
    var isListener = false
    /// Whether it takes no more work and is closed once it has none.
    var isRetired = false
    /// The time of the last data from the server, or of the connection itself, on the monotonic clock.
    private(set) var lastReceived = LoopClock.now
    /// Whether the pool has yet to close the group of reads.
    var hasOpenGroup = false

    // Outputs.
    var finished: [WorkUnit] = []
    var toRetry: [WorkUnit] = []
    var notifications: [PostgresNotification] = []
    var failure: PostgresError?

    /// - Parameter maxStatements: The number of statements that stay prepared; nil behind a pooler.
    init(id: UInt64, handle: ConnectionHandle, loop: EventLoop, maxStatements: Int?) {
        self.id = id
        self.handle = handle
        self.loop = loop
        namesStatements = maxStatements != nil
        statements = StatementCache(capacity: maxStatements ?? 1)
    }

    var pq: OpaquePointer { handle.connection }

    // MARK: State

    /// The number of units that were sent and not answered.
    private(set) var inFlight = 0

    /// Whether no work is under way.
    var isUnused: Bool { inFlight == 0 && lease == nil && pendingCancels == 0 && expected.isEmpty }

    /// Whether at most reads are under way.
    var hasReadsOnly: Bool { lease == nil && exclusive == nil && pendingCancels == 0 }

    /// Whether a unit may have the connection to itself.
    var isIdle: Bool { isUnused && !isWriteBlocked && !isRetired && failure == nil }

    /// Whether another read may be added.
    func acceptsRead(limit: Int) -> Bool {
        hasReadsOnly && stopping == nil && !isWriteBlocked && !isRetired && inFlight < limit && failure == nil
    }

    /// The units that the server answers next, all at once: which one it is at cannot be seen. All others of the connection wait for them.
    var oldest: [WorkUnit] { script.map { [$0] } ?? segments.first?.units ?? group }

    func recordReceipt() { lastReceived = LoopClock.now }

    /// The unit that has the connection to itself.
    private(set) var exclusive: WorkUnit?

    /// Whether the server is outside of any transaction.
    var isOutsideTransaction: Bool { PQtransactionStatus(pq) == PQTRANS_IDLE }

    /// All units that are not finished on this connection, in order.
    var units: [WorkUnit] {
        segments.flatMap(\.units) + group + (script.map { [$0] } ?? []) + leaseQueue
    }

    func register() -> Bool { loop.add(PQsocket(pq), token: id) }

    /// Stops watching the socket; the handle closes the connection when it is released.
    func unregister() { loop.remove(PQsocket(pq)) }

    func fail(_ message: String) {
        guard failure == nil else { return }
        failure = PostgresError(code: .connectionLost, message: message)
    }

    func failFromLibrary() { fail(PostgresError.connectionMessage(pq)) }

    // MARK: Sending

    /// Sends a read; ``closeGroup()`` must follow before the loop sleeps.
    func sendRead(_ unit: WorkUnit, maxGroup: Int) {
        precondition(lease == nil && exclusive == nil, "a read does not share a connection with a transaction")
        if unit.needsOwnSegment { closeGroup() }
        unit.state = .running
        inFlight += 1
        group.append(unit)
        send(unit.query, of: unit)
        if unit.needsOwnSegment || group.count >= maxGroup { closeGroup() }
    }

    /// Ends the segment of the reads sent so far.
    func closeGroup() {
        guard !group.isEmpty else { return }
        segments.append(Segment(units: group))
        group.removeAll(keepingCapacity: true)
        sync()
    }

    /// Sends a unit that has the connection to itself, as a segment of its own, after its preceding statements. When one statement
    /// fails, the server skips the rest, and the unit gets the error.
    func sendExclusive(_ unit: WorkUnit, preamble: String? = nil) {
        precondition(exclusive == nil && inFlight == 0, "the unit has the connection to itself")
        unit.state = .running
        inFlight += 1
        exclusive = unit
        if case .script = unit.kind {
            sendScript(unit, preamble: preamble)
            return
        }
        segments.append(Segment(units: [unit]))
        if let preamble {
            guard PQsendQueryParams(pq, preamble, 0, nil, nil, nil, nil, 1) == 1 else { return failFromLibrary() }
            expected.append(.preamble(unit))
        }
        for query in unit.preceding { send(query, of: unit, isOwn: false) }
        send(unit.query, of: unit)
        sync()
    }

    private func send(_ query: PostgresQuery, of unit: WorkUnit, isOwn: Bool = true) {
        guard failure == nil else { return }
        let key = PreparedStatement.Key(sql: query.sql, types: query.arguments.types)
        let statement: PreparedStatement
        let isFresh: Bool
        if let known = statements.find(key) {
            (statement, isFresh) = (known, false)
        } else {
            guard let prepared = prepare(unit, key) else { return failFromLibrary() }
            (statement, isFresh) = (prepared, true)
        }
        let isSent = query.arguments.withPointers { values, lengths, formats in
            PQsendQueryPrepared(pq, statement.name, Int32(query.arguments.count), values, lengths, formats, 1)
        }
        guard isSent == 1 else { return failFromLibrary() }
        expected.append(.execute(unit, statement, isFresh: isFresh, isOwn: isOwn))
    }

    private func prepare(_ unit: WorkUnit, _ key: PreparedStatement.Key) -> PreparedStatement? {
        guard namesStatements else { return sendPrepare(unit, .unnamed(key)) }
        let (statement, evicted) = statements.insert(key)
        if let evicted { statementsToDeallocate.append(evicted.name) }
        for name in statementsToDeallocate {
            guard PQsendQueryParams(pq, "DEALLOCATE \(name)", 0, nil, nil, nil, nil, 1) == 1 else { return nil }
            expected.append(.deallocate(name))
        }
        statementsToDeallocate.removeAll(keepingCapacity: true)
        return sendPrepare(unit, statement)
    }

    private func sendPrepare(_ unit: WorkUnit, _ statement: PreparedStatement) -> PreparedStatement? {
        let key = statement.key
        StatementObserver.willPrepare(key, on: pq)
        guard PQsendPrepare(pq, statement.name, key.sql, Int32(key.types.count), key.types) == 1 else { return nil }
        expected.append(.prepare(unit, statement))
        return statement
    }

    private func sync() {
        guard failure == nil else { return }
        guard PQpipelineSync(pq) == 1 else { return failFromLibrary() }
        expected.append(.sync)
        flush()
    }

    /// Sends a text of several statements by the simple protocol, which is not available in pipeline mode.
    private func sendScript(_ unit: WorkUnit, preamble: String?) {
        script = unit
        let text = preamble.map { "\($0);\n\(unit.query.sql)" } ?? unit.query.sql
        guard PQexitPipelineMode(pq) == 1, PQsendQuery(pq, text) == 1 else { return failFromLibrary() }
        flush()
    }

    /// Writes the data that libpq still buffers, and watches for EPOLLOUT while some is left.
    func flush() {
        guard failure == nil else { return }
        let result = PQflush(pq)
        guard result >= 0 else { return failFromLibrary() }
        let isBlocked = result == 1
        guard isBlocked != isWriteBlocked else { return }
        isWriteBlocked = isBlocked
        loop.setWantsWrite(isBlocked, PQsocket(pq), token: id)
    }

    // MARK: Bookkeeping of Connection+Receive

    func segmentFinished(_ segment: Segment) {
        inFlight -= segment.units.count
        precondition(inFlight >= 0, "more units were answered than sent")
        exclusive = nil
    }

    func scriptFinished() {
        inFlight -= 1
        exclusive = nil
        script = nil
    }
}
