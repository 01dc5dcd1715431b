import FoundationEssentials
import RedisClient
import Synchronization

/// The ledger of a consumer, shared between its reader, its claimer and its workers.
final class ConsumerDesk: Sendable {
    private typealias Waiter = CheckedContinuation<Void, Never>

    private let ledger: Mutex<ConsumerLedger<Waiter>>
    private let deaths = Mutex<[UUID]>([])
    /// Rings when a unit is through while work is paused.
    private let quiet = Bell()
    /// Rings when there is something to tell the server.
    let settlementsWait = Bell()

    init(capacity: Int, unitSize: Int) {
        ledger = Mutex(ConsumerLedger(capacity: capacity, unitSize: unitSize))
    }

    var claimRoom: Int { ledger.withLock { $0.claimRoom } }

    var heldIDs: Set<EntryID> { ledger.withLock { $0.heldIDs } }

    var heldCount: Int { ledger.withLock { $0.heldCount } }

    var holdsSuspect: Bool { ledger.withLock { $0.holdsSuspect } }

    /// Waits for room and tells how much there is; nil when reading is over.
    func waitForRoom() async -> Int? {
        await withCheckedContinuation { continuation in
            let mustWait = ledger.withLock { $0.waitForRoom(continuation) }
            if !mustWait { continuation.resume() }
        }
        return ledger.withLock { $0.isReadingOver ? nil : $0.room }
    }

    func add(_ entries: [DeliveredEntry]) {
        let (workers, isOver) = ledger.withLock { ledger in (ledger.add(entries), ledger.isReadingOver) }
        for worker in workers { worker.resume() }
        // What came too late is handed back.
        if isOver { settlementsWait.ring() }
    }

    var waitingIDs: Set<EntryID> { ledger.withLock { $0.waitingIDs } }

    func workAlone(on entries: [DeliveredEntry]) { ledger.withLock { $0.workAlone(on: entries) } }

    func handBack(waiting ids: Set<EntryID>) {
        guard !ids.isEmpty else { return }
        ledger.withLock { $0.handBack(waiting: ids) }
        settlementsWait.ring()
    }

    /// Settles entries that no worker is to see.
    func settle(unseen acknowledged: [EntryID], _ rulings: [Ruling]) {
        ledger.withLock { $0.settle(unseen: acknowledged, rulings) }
        settlementsWait.ring()
    }

    /// Waits for work; nil when there will be none any more.
    func next() async -> [DeliveredEntry]? {
        while true {
            switch ledger.withLock({ $0.next() }) {
            case .work(let unit): return unit
            case .finished: return nil
            case .wait: break
            }
            var mustWait = false
            await withCheckedContinuation { continuation in
                mustWait = ledger.withLock { $0.waitForWork(continuation) }
                if !mustWait { continuation.resume() }
            }
            if mustWait { for worker in ledger.withLock({ $0.arrive() }) { worker.resume() } }
        }
    }

    func settle(acknowledged: [EntryID], _ rulings: [Ruling]) {
        let (reader, isQuiet) = ledger.withLock { ledger in
            (ledger.settle(acknowledged: acknowledged, rulings), ledger.isPaused && ledger.isQuiet)
        }
        reader?.resume()
        if isQuiet { quiet.ring() }
        settlementsWait.ring()
    }

    /// Lets nothing new begin and waits until what has begun is settled, or the task is cancelled.
    func pause() async {
        ledger.withLock { $0.pause() }
        while !Task.isCancelled, !ledger.withLock({ $0.isQuiet }) { await quiet.wait() }
    }

    /// Lets work go on.
    func resume() {
        for waiter in ledger.withLock({ $0.resume() }) { waiter.resume() }
    }

    /// Waits for a suspect; nil when there will be none any more.
    func nextSuspect() async -> DeliveredEntry? {
        while true {
            switch ledger.withLock({ $0.nextSuspect() }) {
            case .work(let unit): return unit.first
            case .finished: return nil
            case .wait: break
            }
            await withCheckedContinuation { continuation in
                let mustWait = ledger.withLock { $0.waitForSuspect(continuation) }
                if !mustWait { continuation.resume() }
            }
        }
    }

    func beginSuspect() { ledger.withLock { $0.beginSuspect() } }

    func leaveSuspect(_ id: EntryID) { ledger.withLock { $0.leaveSuspect(id) }?.resume() }

    func takeAcknowledgements() -> [EntryID] { ledger.withLock { $0.takeAcknowledgements() } }

    func putBack(_ ids: [EntryID]) { ledger.withLock { $0.putBack(ids) } }

    func acknowledged(_ ids: [EntryID], gone: [EntryID]) -> [EntryID] {
        ledger.withLock { $0.acknowledged(ids, gone: gone) }
    }

    func takeRulings() -> [Ruling] { ledger.withLock { $0.takeRulings() } }

    func putBack(_ rulings: [Ruling]) { ledger.withLock { $0.putBack(rulings) } }

    func ruled(_ ids: [EntryID]) { ledger.withLock { $0.ruled(ids) }?.resume() }

    /// Notes messages that became dead letters and have to be told to the database.
    func noteDeaths(_ ids: [UUID]) { deaths.withLock { $0 += ids } }

    func takeDeaths() -> [UUID] {
        deaths.withLock { deaths in
            defer { deaths = [] }
            return deaths
        }
    }

    func stop() { ledger.withLock { $0.stop() }?.resume() }

    func close() {
        for worker in ledger.withLock({ $0.close() }) { worker.resume() }
        settlementsWait.ring()
    }
}
