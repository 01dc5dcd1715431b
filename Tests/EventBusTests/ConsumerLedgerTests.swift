import RedisClient
import Testing

@testable import EventBus

/// The ledger as a reference, because an expectation cannot change a value.
private final class Ledger {
    private var state: ConsumerLedger<String>

    init(capacity: Int, unitSize: Int) { state = ConsumerLedger(capacity: capacity, unitSize: unitSize) }

    var room: Int { state.room }
    var heldIDs: Set<EntryID> { state.heldIDs }
    func add(_ entries: [DeliveredEntry]) -> [String] { state.add(entries) }
    func next() -> ConsumerLedger<String>.Next { state.next() }
    func waitForRoom(_ reader: String) -> Bool { state.waitForRoom(reader) }
    func waitForWork(_ worker: String) -> Bool { state.waitForWork(worker) }
    func settle(_ entries: [DeliveredEntry], acknowledged: [EntryID]) -> String? {
        state.settle(entries, acknowledged: acknowledged)
    }
    func takeAcknowledgements() -> [EntryID] { state.takeAcknowledgements() }
    func putBack(_ ids: [EntryID]) { state.putBack(ids) }
    func stop() -> String? { state.stop() }
    func close() -> [String] { state.close() }
    func abandonWaiting() -> Int { state.abandonWaiting() }
}

@Suite("The ledger of a consumer")
struct ConsumerLedgerTests {
    private func entries(_ numbers: ClosedRange<UInt64>) -> [DeliveredEntry] {
        numbers.map { DeliveredEntry(id: EntryID(milliseconds: $0, sequence: 0), fields: [], deliveryCount: 1) }
    }

    private func unit(_ ledger: Ledger) -> [UInt64] {
        if case .work(let unit) = ledger.next() { unit.map(\.id.milliseconds) } else { [] }
    }

    @Test func `has room for what is not in hand`() {
        let ledger = Ledger(capacity: 3, unitSize: 1)
        #expect(ledger.room == 3)
        _ = ledger.add(entries(1...2))
        #expect(ledger.room == 1)
        _ = unit(ledger)
        #expect(ledger.room == 1)
        _ = ledger.settle(entries(1...1), acknowledged: [])
        #expect(ledger.room == 2)
    }

    @Test func `passes over what is in hand already`() {
        let ledger = Ledger(capacity: 9, unitSize: 9)
        _ = ledger.add(entries(1...3))
        _ = ledger.add(entries(2...4))
        #expect(unit(ledger) == [1, 2, 3, 4])
        _ = ledger.add(entries(4...5))
        #expect(unit(ledger) == [5])
    }

    @Test func `takes a settled entry in again`() {
        let ledger = Ledger(capacity: 9, unitSize: 9)
        _ = ledger.add(entries(1...1))
        _ = unit(ledger)
        _ = ledger.settle(entries(1...1), acknowledged: [])
        _ = ledger.add(entries(1...1))
        #expect(unit(ledger) == [1])
    }

    @Test func `wakes as many workers as there are units`() {
        let ledger = Ledger(capacity: 90, unitSize: 10)
        for worker in ["a", "b", "c", "d"] { #expect(ledger.waitForWork(worker)) }
        #expect(ledger.add(entries(1...11)).count == 2)
        #expect(ledger.add(entries(12...12)).count == 2)
        #expect(ledger.add(entries(13...99)).isEmpty)
    }

    @Test func `hands out units of the given size, in order`() {
        let ledger = Ledger(capacity: 90, unitSize: 4)
        _ = ledger.add(entries(1...6))
        #expect(unit(ledger) == [1, 2, 3, 4])
        #expect(unit(ledger) == [5, 6])
        #expect(unit(ledger) == [])
    }

    @Test func `makes the reader wait while there is no room, and no longer`() {
        let ledger = Ledger(capacity: 1, unitSize: 1)
        #expect(!ledger.waitForRoom("reader"))
        _ = ledger.add(entries(1...2))
        #expect(ledger.waitForRoom("reader"))
        #expect(ledger.settle(entries(1...1), acknowledged: []) == nil)
        #expect(ledger.settle(entries(2...2), acknowledged: []) == "reader")
        #expect(ledger.settle([], acknowledged: []) == nil)
    }

    @Test func `collects acknowledgements, and takes them back when they did not arrive`() {
        let ledger = Ledger(capacity: 9, unitSize: 9)
        let ids = entries(1...4).map(\.id)
        _ = ledger.settle([], acknowledged: Array(ids[..<2]))
        let taken = ledger.takeAcknowledgements()
        _ = ledger.settle([], acknowledged: Array(ids[2...]))
        ledger.putBack(taken)
        #expect(ledger.takeAcknowledgements() == ids)
        #expect(ledger.takeAcknowledgements().isEmpty)
    }

    @Test func `lets the reader go when it is stopped, and workers when it is closed`() {
        let ledger = Ledger(capacity: 1, unitSize: 1)
        #expect(ledger.waitForWork("worker"))
        _ = ledger.add(entries(1...1))
        #expect(ledger.waitForRoom("reader"))
        #expect(ledger.stop() == "reader")
        #expect(!ledger.waitForRoom("reader"))
        #expect(ledger.close().isEmpty)
        #expect(unit(ledger) == [1])
        if case .finished = ledger.next() {} else { Issue.record("a closed and empty ledger is finished") }
        #expect(!ledger.waitForWork("worker"))
        #expect(ledger.add(entries(2...2)).isEmpty)
        #expect(unit(ledger) == [])
    }

    @Test func `lets go of what nobody has begun`() {
        let ledger = Ledger(capacity: 9, unitSize: 2)
        _ = ledger.add(entries(1...5))
        _ = unit(ledger)
        #expect(ledger.abandonWaiting() == 3)
        #expect(ledger.heldIDs.count == 2)
        #expect(unit(ledger) == [])
    }
}
