import RedisClient
import Synchronization

/// The ledger of a consumer, shared between its reader, its claimer and its workers.
final class ConsumerDesk: Sendable {
    private typealias Waiter = CheckedContinuation<Void, Never>

    private let ledger: Mutex<ConsumerLedger<Waiter>>
    /// Rings when there is something to acknowledge.
    let acknowledgementsWait = Bell()

    init(capacity: Int, unitSize: Int) {
        ledger = Mutex(ConsumerLedger(capacity: capacity, unitSize: unitSize))
    }

    var room: Int { ledger.withLock { $0.room } }

    var heldIDs: Set<EntryID> { ledger.withLock { $0.heldIDs } }

    var heldCount: Int { ledger.withLock { $0.heldCount } }

    /// Waits for room and tells how much there is; nil when reading is over.
    func waitForRoom() async -> Int? {
        await withCheckedContinuation { continuation in
            let mustWait = ledger.withLock { $0.waitForRoom(continuation) }
            if !mustWait { continuation.resume() }
        }
        return ledger.withLock { $0.isReadingOver ? nil : $0.room }
    }

    func add(_ entries: [DeliveredEntry]) {
        for worker in ledger.withLock({ $0.add(entries) }) { worker.resume() }
    }

    /// Waits for work; nil when there will be none any more.
    func next() async -> [DeliveredEntry]? {
        while true {
            switch ledger.withLock({ $0.next() }) {
            case .work(let unit): return unit
            case .finished: return nil
            case .wait: break
            }
            await withCheckedContinuation { continuation in
                let mustWait = ledger.withLock { $0.waitForWork(continuation) }
                if !mustWait { continuation.resume() }
            }
        }
    }

    func settle(_ entries: [DeliveredEntry], acknowledged: [EntryID]) {
        let reader = ledger.withLock { $0.settle(entries, acknowledged: acknowledged) }
        reader?.resume()
        if !acknowledged.isEmpty { acknowledgementsWait.ring() }
    }

    func takeAcknowledgements() -> [EntryID] { ledger.withLock { $0.takeAcknowledgements() } }

    func putBack(_ ids: [EntryID]) { ledger.withLock { $0.putBack(ids) } }

    func stop() { ledger.withLock { $0.stop() }?.resume() }

    func close() {
        for worker in ledger.withLock({ $0.close() }) { worker.resume() }
    }

    func abandonWaiting() -> Int { ledger.withLock { $0.abandonWaiting() } }
}
