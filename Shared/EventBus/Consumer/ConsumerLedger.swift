import DequeModule
import RedisClient

/// What one consumer has in hand: entries that wait for a worker, entries being worked on, and entries to acknowledge.
///
/// A state machine without input or output: it is told what happened and says who has to be woken. The number of entries in
/// hand is bounded: the reader never asks for more than ``room``, and so does the claimer, so that both together hold at
/// most twice the ``capacity``.
struct ConsumerLedger<Waiter> {
    /// How many entries the reader may have in hand.
    let capacity: Int
    /// How many entries a worker takes at once.
    let unitSize: Int

    private var waiting: Deque<DeliveredEntry> = []
    private var held: Set<EntryID> = []
    private var done: [EntryID] = []
    private var idleWorkers: [Waiter] = []
    private var reader: Waiter?
    private var isStopped = false
    private var isClosed = false

    init(capacity: Int, unitSize: Int) {
        self.capacity = capacity
        self.unitSize = unitSize
    }

    /// How many more entries may be asked for now.
    var room: Int { max(0, capacity - held.count) }

    /// Entries that wait or are worked on.
    var heldIDs: Set<EntryID> { held }

    /// How many entries wait or are worked on.
    var heldCount: Int { held.count }

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
    ///
    /// - Returns: The workers to wake.
    mutating func add(_ entries: [DeliveredEntry]) -> [Waiter] {
        guard !isClosed else { return [] }
        for entry in entries where held.insert(entry.id).inserted { waiting.append(entry) }
        let needed = (waiting.count + unitSize - 1) / unitSize
        let woken = Array(idleWorkers.suffix(needed))
        idleWorkers.removeLast(woken.count)
        return woken
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
        guard waiting.isEmpty else {
            let unit = Array(waiting.prefix(unitSize))
            waiting.removeFirst(unit.count)
            return .work(unit)
        }
        return isClosed ? .finished : .wait
    }

    /// A worker wants to wait for work; false when it need not.
    mutating func waitForWork(_ waiter: Waiter) -> Bool {
        guard waiting.isEmpty, !isClosed else { return false }
        idleWorkers.append(waiter)
        return true
    }

    /// A worker is through with entries; `acknowledged` are those whose effect is committed.
    ///
    /// - Returns: The reader, if it has to be woken.
    mutating func settle(_ entries: [DeliveredEntry], acknowledged: [EntryID]) -> Waiter? {
        for entry in entries { held.remove(entry.id) }
        done += acknowledged
        guard room > 0, let waiter = reader else { return nil }
        reader = nil
        return waiter
    }

    // MARK: Acknowledgements

    /// Takes what has to be acknowledged.
    mutating func takeAcknowledgements() -> [EntryID] {
        defer { done = [] }
        return done
    }

    /// Puts back what could not be acknowledged.
    mutating func putBack(_ ids: [EntryID]) {
        done = ids + done
    }

    // MARK: The end

    /// Ends the intake: the reader is not made to wait any more.
    mutating func stop() -> Waiter? {
        isStopped = true
        defer { reader = nil }
        return reader
    }

    /// Nothing more will come; workers finish what waits. Returns those to wake.
    mutating func close() -> [Waiter] {
        isClosed = true
        defer { idleWorkers = [] }
        return idleWorkers
    }

    /// Lets go of what no worker has begun; it stays pending for another consumer.
    mutating func abandonWaiting() -> Int {
        for entry in waiting { held.remove(entry.id) }
        defer { waiting = [] }
        return waiting.count
    }
}
