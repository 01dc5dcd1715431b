import AsyncPrimitives
import FoundationEssentials
import Synchronization

/// The ``StreamConsumerStateMachine`` of a consumer behind a lock, shared by its reader, its claimer, its settler and its workers.
final class StreamConsumerState: Sendable {
    /// A task that waits.
    ///
    /// A class, because functions of the runtime copy and destroy an optional continuation several times for each entry, even when it is
    /// nil.
    private final class Waiter: Sendable {
        private let continuation: CheckedContinuation<Void, Never>

        init(_ continuation: CheckedContinuation<Void, Never>) { self.continuation = continuation }

        func resume() { continuation.resume() }
    }

    private let machine: Mutex<StreamConsumerStateMachine<Waiter>>
    private let reads = Atomic(0)
    /// Signalled when the last unit in work is settled while work is paused.
    private let quiet = AsyncSignal()
    /// Signalled when there are acknowledgements or dispositions to send to the server.
    let settlementAdded = AsyncSignal()

    init(capacity: Int, unitSize: Int) {
        machine = Mutex(StreamConsumerStateMachine(capacity: capacity, unitSize: unitSize))
    }

    var claimRoom: Int { machine.withLock { $0.claimRoom } }

    /// A set is made outside of the lock, for which the workers wait.
    var heldIDs: Set<EntryID> { Set(machine.withLock { $0.heldIDs }) }

    /// Returns the given entries that this consumer holds.
    func held(of ids: [EntryID]) -> [EntryID] { machine.withLock { machine in ids.filter(machine.isHeld) } }

    var heldCount: Int { machine.withLock { $0.heldCount } }

    var holdsSuspect: Bool { machine.withLock { $0.holdsSuspect } }

    /// Waits until a read is due and returns the number of entries that fit; nil when reading has ended.
    func waitForRoom() async -> Int? {
        while true {
            await withCheckedContinuation { continuation in
                let mustWait = machine.withLock { $0.waitForRoom(Waiter(continuation)) }
                if !mustWait { continuation.resume() }
            }
            let (isOver, room) = machine.withLock { machine in (machine.isReadingOver, machine.room) }
            if isOver { return nil }
            // A pause or a claim may have taken the room meanwhile, and a read with COUNT 0 would have no limit.
            if room > 0 { return room }
        }
    }

    func add(_ entries: [DeliveredEntry]) {
        let (workers, isOver) = machine.withLock { machine in (machine.add(entries), machine.isReadingOver) }
        for worker in workers { worker.resume() }
        // Entries that arrive after the end of reading are released.
        if isOver { settlementAdded.signal() }
    }

    var waitingIDs: Set<EntryID> { Set(machine.withLock { $0.waitingIDs }) }

    func retryIndividually(on entries: [DeliveredEntry]) { machine.withLock { $0.retryIndividually(on: entries) } }

    func release(waiting ids: Set<EntryID>) {
        guard !ids.isEmpty else { return }
        machine.withLock { $0.release(waiting: ids) }
        settlementAdded.signal()
    }

    /// Settles entries without handling them.
    func settle(unseen acknowledged: [EntryID], _ dispositions: [Disposition]) {
        machine.withLock { $0.settle(unseen: acknowledged, dispositions) }
        settlementAdded.signal()
    }

    /// Waits for entries to handle; nil when the consumer is closed and no entry is left.
    func next() async -> [DeliveredEntry]? {
        while true {
            switch takeNext() {
            case .work(let unit): return unit
            case .finished: return nil
            case .wait: await waitForWork()
            }
        }
    }

    /// A separate function, like ``waitForWork()``: the local variables of an asynchronous function are allocated one by one, and most
    /// workers find entries without waiting.
    private func takeNext() -> StreamConsumerStateMachine<Waiter>.Next {
        let (next, reader) = machine.withLock { machine in (machine.next(), machine.readerToWake()) }
        reader?.resume()
        return next
    }

    private func waitForWork() async {
        var mustWait = false
        await withCheckedContinuation { continuation in
            mustWait = machine.withLock { $0.waitForWork(Waiter(continuation)) }
            if !mustWait { continuation.resume() }
        }
        if mustWait { for worker in machine.withLock({ $0.arrive() }) { worker.resume() } }
    }

    func settle(acknowledged: some Collection<EntryID> & Sendable, _ dispositions: [Disposition]) {
        let (reader, isQuiet) = machine.withLock { machine in
            (machine.settle(acknowledged: acknowledged, dispositions), machine.isPaused && machine.isQuiet)
        }
        reader?.resume()
        if isQuiet { quiet.signal() }
        settlementAdded.signal()
    }

    /// Begins no more work and waits until all begun work is settled, or the task is cancelled.
    func pause() async {
        machine.withLock { $0.pause() }
        while !Task.isCancelled, !machine.withLock({ $0.isQuiet }) { await quiet.wait() }
    }

    /// Resumes work.
    func resume() {
        for waiter in machine.withLock({ $0.resume() }) { waiter.resume() }
    }

    /// Waits for a suspect; nil when the consumer is closed and no suspect is left.
    func nextSuspect() async -> DeliveredEntry? {
        while true {
            switch machine.withLock({ $0.nextSuspect() }) {
            case .work(let unit): return unit.first
            case .finished: return nil
            case .wait: break
            }
            await withCheckedContinuation { continuation in
                let mustWait = machine.withLock { $0.waitForSuspect(Waiter(continuation)) }
                if !mustWait { continuation.resume() }
            }
        }
    }

    func beginSuspect() { machine.withLock { $0.beginSuspect() } }

    func leaveSuspect(_ id: EntryID) { machine.withLock { $0.leaveSuspect(id) }?.resume() }

    func takeAcknowledgements() -> [EntryID] { machine.withLock { $0.takeAcknowledgements() } }

    /// Takes the acknowledgements for a read that carries them.
    func takeAcknowledgementsForRead() -> [EntryID] {
        let ids = takeAcknowledgements()
        if !ids.isEmpty { reads.add(1, ordering: .relaxed) }
        return ids
    }

    /// The number of reads so far that carried acknowledgements.
    var carryingReads: Int { reads.load(ordering: .relaxed) }

    var hasOnlyAcknowledgements: Bool { machine.withLock { $0.hasOnlyAcknowledgements } }

    func requeue(_ ids: [EntryID]) { machine.withLock { $0.requeue(ids) } }

    func acknowledged(_ ids: [EntryID], gone: [EntryID]) -> [EntryID] {
        machine.withLock { $0.acknowledged(ids, gone: gone) }
    }

    func takeDispositions() -> [Disposition] { machine.withLock { $0.takeDispositions() } }

    func requeue(_ dispositions: [Disposition]) { machine.withLock { $0.requeue(dispositions) } }

    func applied(_ ids: [EntryID]) { machine.withLock { $0.applied(ids) }?.resume() }

    func acknowledge(_ ids: [EntryID]) { machine.withLock { $0.acknowledge(ids) }?.resume() }

    func stop() { machine.withLock { $0.stop() }?.resume() }

    func close() {
        for worker in machine.withLock({ $0.close() }) { worker.resume() }
        settlementAdded.signal()
    }
}
