import DequeModule

/// The entries that one consumer holds: waiting for a worker, in work, or waiting to be settled on the server.
///
/// A state machine without input or output: its methods record events and return the waiters to resume. Its driver is
/// ``StreamConsumer``, which calls it through ``StreamConsumerState``. The number of held entries is bounded: the reader asks for at most
/// ``room`` and the claimer for at most ``claimRoom``, so that together they hold at most twice the ``capacity``.
///
/// The preconditions of its methods are checked in release builds, too: a consumer that has lost count of its entries must not continue.
struct StreamConsumerStateMachine<Waiter> {
    /// The most workers that are woken at a time; each wakes the next when it takes its entries and more are waiting. A worker whose
    /// handler does not suspend takes the next entries itself, and waking a worker for each entry would cost more than the work.
    static var maxWaking: Int { 2 }
    /// The delivery count from which on an entry is suspected of crashing its consumers, and is handled in isolation.
    static var suspectDeliveries: Int { 3 }

    /// The most entries that the reader may fill up to.
    let capacity: Int
    /// The most entries that a worker takes at once.
    let unitSize: Int

    private var waiting: Deque<DeliveredEntry> = []
    private var held = HeldEntries()
    /// The entries of failed batches. Each is handled alone, because any of them may be the cause.
    private var singles: Set<EntryID> = []
    /// Suspects that wait for the isolation lane.
    private var suspects: Deque<DeliveredEntry> = []
    /// The number of units in work.
    private var working = 0
    private(set) var isPaused = false
    private var hasBegunSuspect = false
    private var done: [EntryID] = []
    /// Entries whose acknowledgement got no answer, so that they may be acknowledged already.
    private var uncertain: Set<EntryID> = []
    private var dispositions: [Disposition] = []
    private var idleWorkers: [Waiter] = []
    private var suspectWorker: Waiter?
    /// The number of workers that were woken and have not asked for work yet.
    private var waking = 0
    private var reader: Waiter?
    private var isStopped = false
    private var isClosed = false

    init(capacity: Int, unitSize: Int) {
        precondition(capacity > 0 && unitSize > 0, "a consumer without room for an entry would wait for ever")
        self.capacity = capacity
        self.unitSize = unitSize
    }

    /// The number of entries that the reader may ask for now.
    var room: Int { isPaused ? 0 : max(0, capacity - held.count) }

    /// Whether a read is worth its round trip: no entry waits for a worker, or half of the room is free. While entries wait, no worker is
    /// idle, and a read for each settled entry would cost more than the entry.
    private var isReadDue: Bool { room > 0 && (waiting.isEmpty || 2 * room >= capacity) }

    /// The number of entries that may be claimed now. Claims have room beyond the reader's, which then waits: otherwise the entries of
    /// a dead consumer would never be handled in a stream that always has newer ones.
    var claimRoom: Int { isPaused ? 0 : max(0, 2 * capacity - held.count) }

    /// The entries that wait, are in work, or have a disposition that the server has yet to apply.
    var heldIDs: [EntryID] { held.ascending }

    func isHeld(_ id: EntryID) -> Bool { held.contains(id) }

    /// The number of held entries.
    var heldCount: Int { held.count }

    /// The entries that no worker has begun.
    var waitingIDs: [EntryID] { waiting.map(\.id) }

    /// Whether a suspect is held, so that no other may be claimed.
    private(set) var holdsSuspect = false

    /// Whether no more entries are read.
    var isReadingOver: Bool { isStopped || isClosed }

    // MARK: Intake

    /// Registers the reader as waiting until a read is due; false when it need not wait.
    mutating func waitForRoom(_ waiter: Waiter) -> Bool {
        guard !isReadDue, !isReadingOver else { return false }
        precondition(reader == nil, "one reader waits at a time")
        reader = waiter
        return true
    }

    /// Adds entries. Held ones are skipped, because a claim may return an entry that a slow handler of this consumer works on. After
    /// ``close()`` entries are released.
    ///
    /// - Returns: The workers to wake.
    mutating func add(_ entries: [DeliveredEntry]) -> [Waiter] {
        for entry in entries {
            // A claim may also return an entry that is handled and whose acknowledgement fails.
            if entry.deliveryCount > 1, done.contains(entry.id) { continue }
            guard held.insert(entry.id) else { continue }
            if isClosed {
                dispositions.append(.release(entry.id))
            } else if entry.deliveryCount >= Self.suspectDeliveries {
                suspects.append(entry)
                holdsSuspect = true
            } else {
                waiting.append(entry)
            }
        }
        return wakeWorkers() + wakeSuspectWorker()
    }

    private mutating func wakeWorkers() -> [Waiter] {
        if isPaused { return [] }
        let units = (waiting.count + unitSize - 1) / unitSize
        let woken = Array(idleWorkers.suffix(min(units, Self.maxWaking) - min(waking, units, Self.maxWaking)))
        idleWorkers.removeLast(woken.count)
        waking += woken.count
        return woken
    }

    private mutating func wakeSuspectWorker() -> [Waiter] {
        guard !suspects.isEmpty || isClosed, let worker = suspectWorker else { return [] }
        suspectWorker = nil
        return [worker]
    }

    /// Records that a woken worker asks for work. Returns the workers to wake for the entries beyond its own.
    mutating func arrive() -> [Waiter] {
        precondition(waking > 0, "a worker arrives once after it was woken")
        waking -= 1
        // The entries that this worker takes need no other worker.
        return waiting.count > unitSize ? wakeWorkers() : []
    }

    /// Queues the entries of a failed batch to be handled one by one, because any of them may be the cause.
    mutating func retryIndividually(on entries: [DeliveredEntry]) {
        for entry in entries where held.contains(entry.id) {
            waiting.append(entry)
            singles.insert(entry.id)
        }
    }

    /// Releases entries that wait although all workers are busy or paused, so that an idle consumer can claim them. Does nothing for
    /// batches: a batch ends soon, and its entries would lose the order of their stream.
    mutating func release(waiting ids: Set<EntryID>) {
        guard unitSize == 1, idleWorkers.isEmpty || isPaused else { return }
        let gone = waiting.filter { ids.contains($0.id) }
        guard !gone.isEmpty else { return }
        let goneIDs = Set(gone.map(\.id))
        waiting.removeAll { goneIDs.contains($0.id) }
        dispositions += gone.map { .release($0.id) }
    }

    /// Settles entries that no worker is to see.
    mutating func settle(unseen acknowledged: [EntryID], _ dispositions: [Disposition]) {
        done += acknowledged
        for disposition in dispositions where held.insert(disposition.id) { self.dispositions.append(disposition) }
    }

    // MARK: Work

    /// The next step of a worker.
    enum Next {
        case work([DeliveredEntry])
        case wait
        case finished
    }

    /// Returns a worker's next entries, at most ``unitSize``.
    mutating func next() -> Next {
        guard let first = waiting.first else { return isClosed ? .finished : .wait }
        if isPaused { return .wait }
        working += 1
        if unitSize == 1 { return .work([waiting.removeFirst()]) }
        let unit = singles.contains(first.id) ? [first] : Array(waiting.prefix(unitSize).prefix { !singles.contains($0.id) })
        waiting.removeFirst(unit.count)
        return .work(unit)
    }

    /// Registers a worker as idle; false when it need not wait.
    mutating func waitForWork(_ waiter: Waiter) -> Bool {
        guard waiting.isEmpty || isPaused, !isClosed else { return false }
        idleWorkers.append(waiter)
        return true
    }

    /// Settles a worker's entries: the effect of some is committed, the others have a disposition.
    ///
    /// - Returns: The reader, if it has to be woken.
    mutating func settle(acknowledged: some Collection<EntryID>, _ dispositions: [Disposition]) -> Waiter? {
        precondition(working > 0, "a unit is settled once, by the worker that began it")
        precondition(dispositions.allSatisfy { held.contains($0.id) }, "an entry is settled while it is held")
        working -= 1
        for id in acknowledged { removeHeld(id) }
        done.append(contentsOf: acknowledged)
        self.dispositions += dispositions
        return readerToWake()
    }

    private mutating func removeHeld(_ id: EntryID) {
        let wasHeld = held.remove(id)
        precondition(wasHeld, "an entry is settled once, while it is held")
        if !singles.isEmpty { singles.remove(id) }
    }

    /// Returns the reader when it waits and a read is due, which is also the case once a worker has taken the last waiting entry.
    mutating func readerToWake() -> Waiter? {
        guard isReadDue, let waiter = reader else { return nil }
        reader = nil
        return waiter
    }

    // MARK: Isolation

    /// Whether no unit is in work.
    var isQuiet: Bool { working == 0 }

    /// Stops beginning, reading and claiming until ``resume()``.
    mutating func pause() { isPaused = true }

    /// Ends the pause. Returns the workers to wake, and the reader.
    mutating func resume() -> [Waiter] {
        isPaused = false
        return wakeWorkers() + (readerToWake().map { [$0] } ?? [])
    }

    /// Returns the isolated worker's next suspect.
    mutating func nextSuspect() -> Next {
        guard let suspect = suspects.popFirst() else { return isClosed ? .finished : .wait }
        return .work([suspect])
    }

    /// Registers the isolated worker as waiting for a suspect; false when it need not wait.
    mutating func waitForSuspect(_ waiter: Waiter) -> Bool {
        guard suspects.isEmpty, !isClosed else { return false }
        precondition(suspectWorker == nil, "one worker handles suspects")
        suspectWorker = waiter
        return true
    }

    /// Records that the suspect's delivery is counted on the server and its handler begins.
    mutating func beginSuspect() {
        precondition(!hasBegunSuspect, "one suspect is handled at a time")
        working += 1
        hasBegunSuspect = true
    }

    /// Ends the work on a suspect. A suspect that could not be begun is dropped: it stays pending until a consumer claims it. Returns the
    /// reader, if it has to be woken.
    mutating func leaveSuspect(_ id: EntryID) -> Waiter? {
        defer { hasBegunSuspect = false }
        holdsSuspect = !suspects.isEmpty
        if !hasBegunSuspect { removeHeld(id) }
        return readerToWake()
    }

    // MARK: Settlement on the server

    /// Takes the entries to acknowledge, in ascending order.
    mutating func takeAcknowledgements() -> [EntryID] {
        defer { done = [] }
        return done.sorted()
    }

    /// Requeues acknowledgements that failed or got no answer.
    mutating func requeue(_ ids: [EntryID]) {
        done = ids + done
        uncertain.formUnion(ids)
    }

    /// Records the server's answer to acknowledgements. Returns those entries of `gone` that another consumer has certainly claimed, and
    /// that were not merely acknowledged before.
    mutating func acknowledged(_ ids: [EntryID], gone: [EntryID]) -> [EntryID] {
        let lost = uncertain.isEmpty ? gone : gone.filter { !uncertain.contains($0) }
        if !uncertain.isEmpty { uncertain.subtract(ids) }
        return lost
    }

    /// Whether acknowledgements wait to be sent, and no disposition.
    var hasOnlyAcknowledgements: Bool { !done.isEmpty && dispositions.isEmpty }

    /// Takes the dispositions to send to the server.
    mutating func takeDispositions() -> [Disposition] {
        defer { dispositions = [] }
        return dispositions
    }

    /// Requeues dispositions that could not be sent; their entries stay held.
    mutating func requeue(_ dispositions: [Disposition]) {
        self.dispositions = dispositions + self.dispositions
    }

    /// Records that the server has applied these dispositions. Returns the reader, if it has to be woken.
    mutating func applied(_ ids: [EntryID]) -> Waiter? {
        for id in ids { removeHeld(id) }
        return readerToWake()
    }

    /// Records that entries with dispositions only need an acknowledgement now. Returns the reader, if it has to be woken.
    mutating func acknowledge(_ ids: [EntryID]) -> Waiter? {
        done += ids
        return applied(ids)
    }

    // MARK: Shutdown

    /// Ends reading. Returns the reader, if it waits.
    mutating func stop() -> Waiter? {
        isStopped = true
        defer { reader = nil }
        return reader
    }

    /// Closes the machine after the last read: releases the entries that no worker has begun. Returns the workers to wake.
    mutating func close() -> [Waiter] {
        isClosed = true
        dispositions += waiting.map { .release($0.id) }
        waiting = []
        waking += idleWorkers.count
        defer { idleWorkers = [] }
        return idleWorkers + wakeSuspectWorker()
    }
}
