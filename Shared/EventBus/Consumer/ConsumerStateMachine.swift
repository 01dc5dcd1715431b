import DequeModule
import RedisClient

/// What one consumer has in hand: entries that wait for a worker, entries being worked on, and entries to settle.
///
/// A state machine without input or output: it is told what happened and says who has to be woken. The number of entries in
/// hand is bounded: the reader never asks for more than ``room``, and the claimer for no more than ``claimRoom``, so that both
/// together hold at most twice the ``capacity``.
struct ConsumerStateMachine<Waiter> {
    /// So many workers are woken at a time; each wakes the next when it comes and there is more. A worker whose handler does not
    /// wait takes the next entries itself, and waking one for each entry would cost more than the work.
    static var wakingMax: Int { 2 }
    /// With so many deliveries an entry is suspected of having killed its consumers, and is worked on in isolation.
    static var suspectDeliveries: Int { 3 }

    /// How many entries the reader may have in hand.
    let capacity: Int
    /// How many entries a worker takes at once.
    let unitSize: Int

    private var waiting: Deque<DeliveredEntry> = []
    private var held: Set<EntryID> = []
    /// Entries of a batch that failed without showing which of them is at fault.
    private var singles: Set<EntryID> = []
    /// Entries that wait for the isolation.
    private var suspects: Deque<DeliveredEntry> = []
    /// How many units are being worked on.
    private var working = 0
    private(set) var isPaused = false
    private var hasBegunSuspect = false
    private var done: [EntryID] = []
    /// Entries that were perhaps acknowledged already, because no answer came.
    private var uncertain: Set<EntryID> = []
    private var dispositions: [Disposition] = []
    private var idleWorkers: [Waiter] = []
    private var suspectWorker: Waiter?
    /// Workers that were woken and have not asked for work yet.
    private var waking = 0
    private var reader: Waiter?
    private var isStopped = false
    private var isClosed = false

    init(capacity: Int, unitSize: Int) {
        self.capacity = capacity
        self.unitSize = unitSize
    }

    /// How many more entries the reader may ask for now.
    var room: Int { isPaused ? 0 : max(0, capacity - held.count) }

    /// How many more entries may be claimed now. There is room when reading has used up its own, and reading waits until it is
    /// free again: else what a dead consumer left would never be done where there is always something newer to read.
    var claimRoom: Int { isPaused ? 0 : max(0, 2 * capacity - held.count) }

    /// Entries that wait, are worked on, or are not acknowledged and not settled otherwise yet.
    var heldIDs: Set<EntryID> { held }

    /// How many entries are held.
    var heldCount: Int { held.count }

    /// Entries that no worker has begun.
    var waitingIDs: Set<EntryID> { Set(waiting.map(\.id)) }

    /// Whether a suspect is in hand, so that no other may be claimed.
    private(set) var holdsSuspect = false

    /// Whether nobody may ask for entries any more.
    var isReadingOver: Bool { isStopped || isClosed }

    // MARK: Intake

    /// The reader wants to wait until there is room; false when it need not.
    mutating func waitForRoom(_ waiter: Waiter) -> Bool {
        guard room == 0, !isReadingOver else { return false }
        reader = waiter
        return true
    }

    /// Takes entries in; those already in hand are passed over, for a claim may bring back what a slow handler works on.
    /// What comes when reading is over is handed back.
    ///
    /// - Returns: The workers to wake.
    mutating func add(_ entries: [DeliveredEntry]) -> [Waiter] {
        for entry in entries {
            // A claim may also bring back what is done and could not be acknowledged for long.
            if entry.deliveryCount > 1, done.contains(entry.id) { continue }
            guard held.insert(entry.id).inserted else { continue }
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
        let woken = Array(idleWorkers.suffix(min(units, Self.wakingMax) - min(waking, units, Self.wakingMax)))
        idleWorkers.removeLast(woken.count)
        waking += woken.count
        return woken
    }

    private mutating func wakeSuspectWorker() -> [Waiter] {
        guard !suspects.isEmpty || isClosed, let worker = suspectWorker else { return [] }
        suspectWorker = nil
        return [worker]
    }

    /// A woken worker is there and takes what waits. Returns the workers to wake for the rest.
    mutating func arrive() -> [Waiter] {
        waking = max(0, waking - 1)
        // What the arriving one will take needs nobody else.
        return waiting.count > unitSize ? wakeWorkers() : []
    }

    /// Takes back entries of a batch that failed without showing which of them is at fault: each is worked on alone now.
    mutating func retryIndividually(on entries: [DeliveredEntry]) {
        for entry in entries where held.contains(entry.id) {
            waiting.append(entry)
            singles.insert(entry.id)
        }
    }

    /// Hands back entries that have waited for long while all workers are busy or may not begin: an idle consumer may have them. Not where
    /// batches are taken: a batch is soon over, and its messages would leave the order of their stream.
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
        for disposition in dispositions where held.insert(disposition.id).inserted { self.dispositions.append(disposition) }
    }

    // MARK: Work

    /// What a worker does next.
    enum Next {
        case work([DeliveredEntry])
        case wait
        case finished
    }

    /// Gives a worker its next entries, at most ``unitSize``.
    mutating func next() -> Next {
        guard let first = waiting.first else { return isClosed ? .finished : .wait }
        if isPaused { return .wait }
        working += 1
        if unitSize == 1 { return .work([waiting.removeFirst()]) }
        let unit = singles.contains(first.id) ? [first] : Array(waiting.prefix(unitSize).prefix { !singles.contains($0.id) })
        waiting.removeFirst(unit.count)
        return .work(unit)
    }

    /// A worker wants to wait for work; false when it need not.
    mutating func waitForWork(_ waiter: Waiter) -> Bool {
        guard waiting.isEmpty || isPaused, !isClosed else { return false }
        idleWorkers.append(waiter)
        return true
    }

    /// A worker is through with entries: the effect of some is committed, others are ruled upon.
    ///
    /// - Returns: The reader, if it has to be woken.
    mutating func settle(acknowledged: [EntryID], _ dispositions: [Disposition]) -> Waiter? {
        working -= 1
        for id in acknowledged { removeHeld(id) }
        done += acknowledged
        self.dispositions += dispositions
        return readerToWake()
    }

    private mutating func removeHeld(_ id: EntryID) {
        held.remove(id)
        if !singles.isEmpty { singles.remove(id) }
    }

    private mutating func readerToWake() -> Waiter? {
        guard room > 0, let waiter = reader else { return nil }
        reader = nil
        return waiter
    }

    // MARK: IsolationLane

    /// Whether nothing is being worked on.
    var isQuiet: Bool { working == 0 }

    /// Nothing new is begun, read or claimed, until ``resume()``.
    mutating func pause() { isPaused = true }

    /// Work goes on. Returns the workers to wake, and the reader.
    mutating func resume() -> [Waiter] {
        isPaused = false
        return wakeWorkers() + (readerToWake().map { [$0] } ?? [])
    }

    /// Gives the worker in isolation the next suspect.
    mutating func nextSuspect() -> Next {
        guard let suspect = suspects.popFirst() else { return isClosed ? .finished : .wait }
        return .work([suspect])
    }

    /// The worker in isolation wants to wait for a suspect; false when it need not.
    mutating func waitForSuspect(_ waiter: Waiter) -> Bool {
        guard suspects.isEmpty, !isClosed else { return false }
        suspectWorker = waiter
        return true
    }

    /// The suspect was begun.
    mutating func beginSuspect() {
        working += 1
        hasBegunSuspect = true
    }

    /// The worker in isolation is through with its suspect. One that it could not begin is let go of: it stays pending, and
    /// somebody claims it. Returns the reader, if it has to be woken.
    mutating func leaveSuspect(_ id: EntryID) -> Waiter? {
        defer { hasBegunSuspect = false }
        holdsSuspect = !suspects.isEmpty
        if !hasBegunSuspect { removeHeld(id) }
        return readerToWake()
    }

    // MARK: Telling the server

    /// Takes what has to be acknowledged, in ascending order.
    mutating func takeAcknowledgements() -> [EntryID] {
        defer { done = [] }
        return done.sorted()
    }

    /// Puts back what could not be acknowledged, or was without our knowing.
    mutating func requeue(_ ids: [EntryID]) {
        done = ids + done
        uncertain.formUnion(ids)
    }

    /// The server has answered for these, and some were not this consumer's any more. Returns those which certainly were
    /// somebody else's, and not only acknowledged before.
    mutating func acknowledged(_ ids: [EntryID], gone: [EntryID]) -> [EntryID] {
        let lost = uncertain.isEmpty ? gone : gone.filter { !uncertain.contains($0) }
        if !uncertain.isEmpty { uncertain.subtract(ids) }
        return lost
    }

    /// Takes the dispositions that the server has to be told.
    mutating func takeRulings() -> [Disposition] {
        defer { dispositions = [] }
        return dispositions
    }

    /// Puts back dispositions that the server could not be told; their entries stay in hand.
    mutating func requeue(_ dispositions: [Disposition]) {
        self.dispositions = dispositions + self.dispositions
    }

    /// The server knows of these dispositions. Returns the reader, if it has to be woken.
    mutating func applied(_ ids: [EntryID]) -> Waiter? {
        for id in ids { removeHeld(id) }
        return readerToWake()
    }

    // MARK: The end

    /// Ends the intake: the reader is not made to wait any more.
    mutating func stop() -> Waiter? {
        isStopped = true
        defer { reader = nil }
        return reader
    }

    /// Nothing more will come, and what no worker has begun is handed back. Returns the workers to wake.
    mutating func close() -> [Waiter] {
        isClosed = true
        dispositions += waiting.map { .release($0.id) }
        waiting = []
        defer { idleWorkers = [] }
        return idleWorkers + wakeSuspectWorker()
    }
}
