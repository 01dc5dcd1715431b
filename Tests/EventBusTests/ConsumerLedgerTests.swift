import RedisClient
import Testing

@testable import EventBus

/// The ledger as a reference, because an expectation cannot change a value.
private final class Ledger {
    private var state: ConsumerLedger<String>

    init(capacity: Int, unitSize: Int) { state = ConsumerLedger(capacity: capacity, unitSize: unitSize) }

    var room: Int { state.room }
    var claimRoom: Int { state.claimRoom }
    var heldIDs: Set<EntryID> { state.heldIDs }
    func add(_ entries: [DeliveredEntry]) -> [String] { state.add(entries) }
    func next() -> ConsumerLedger<String>.Next { state.next() }
    func waitForRoom(_ reader: String) -> Bool { state.waitForRoom(reader) }
    func waitForWork(_ worker: String) -> Bool { state.waitForWork(worker) }
    var holdsSuspect: Bool { state.holdsSuspect }
    func settle(_ acknowledged: [EntryID], _ rulings: [Ruling] = []) -> String? {
        state.settle(acknowledged: acknowledged, rulings)
    }
    func takeRulings() -> [EntryID] { state.takeRulings().map(\.id) }
    func putBack(_ rulings: [Ruling]) { state.putBack(rulings) }
    func ruled(_ ids: [EntryID]) -> String? { state.ruled(ids) }
    func arrive() -> [String] { state.arrive() }
    func takeAcknowledgements() -> [EntryID] { state.takeAcknowledgements() }
    func putBack(_ ids: [EntryID]) { state.putBack(ids) }
    func nextSuspect() -> ConsumerLedger<String>.Next { state.nextSuspect() }
    func waitForSuspect(_ worker: String) -> Bool { state.waitForSuspect(worker) }
    func beginSuspect() { state.beginSuspect() }
    func leaveSuspect(_ id: EntryID) -> String? { state.leaveSuspect(id) }
    func handBack(waiting ids: Set<EntryID>) { state.handBack(waiting: ids) }
    var isQuiet: Bool { state.isQuiet }
    func pause() { state.pause() }
    func resume() -> [String] { state.resume() }
    func stop() -> String? { state.stop() }
    func close() -> [String] { state.close() }
}

@Suite("The ledger of a consumer")
struct ConsumerLedgerTests {
    private func entries(_ numbers: ClosedRange<UInt64>, deliveryCount: Int = 1) -> [DeliveredEntry] {
        numbers.map { DeliveredEntry(id: EntryID(milliseconds: $0, sequence: 0), fields: [], deliveryCount: deliveryCount) }
    }

    private func ids(_ numbers: ClosedRange<UInt64>) -> [EntryID] { entries(numbers).map(\.id) }

    private func unit(_ ledger: Ledger) -> [UInt64] {
        if case .work(let unit) = ledger.next() { unit.map(\.id.milliseconds) } else { [] }
    }

    private func suspect(_ ledger: Ledger) -> UInt64? {
        if case .work(let unit) = ledger.nextSuspect() { unit.first?.id.milliseconds } else { nil }
    }

    @Test func `has room for what is not in hand`() {
        let ledger = Ledger(capacity: 3, unitSize: 1)
        #expect(ledger.room == 3)
        _ = ledger.add(entries(1...2))
        #expect(ledger.room == 1)
        _ = unit(ledger)
        #expect(ledger.room == 1)
        _ = ledger.settle(ids(1...1))
        #expect(ledger.room == 2)
    }

    @Test func `claims have room when reading has used up its own, and reading then waits`() {
        let ledger = Ledger(capacity: 3, unitSize: 1)
        _ = ledger.add(entries(1...3))
        #expect(ledger.room == 0)
        #expect(ledger.claimRoom == 3)
        _ = ledger.add(entries(4...6, deliveryCount: 2))
        #expect(ledger.claimRoom == 0)
        _ = ledger.settle(ids(1...3))
        #expect(ledger.room == 0)
        #expect(ledger.claimRoom == 3)
        _ = ledger.settle(ids(4...4))
        #expect(ledger.room == 1)
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
        _ = ledger.settle(ids(1...1))
        _ = ledger.add(entries(1...1))
        #expect(unit(ledger) == [1])
    }

    @Test func `wakes a worker for each unit, at most two at a time`() {
        let ledger = Ledger(capacity: 90, unitSize: 10)
        for worker in ["a", "b", "c", "d"] { #expect(ledger.waitForWork(worker)) }
        #expect(ledger.add(entries(1...5)).count == 1)
        #expect(ledger.add(entries(6...11)).count == 1)
        #expect(ledger.add(entries(12...40)).isEmpty)
    }

    @Test func `has a worker that comes wake the next while there is more than it takes`() {
        let ledger = Ledger(capacity: 90, unitSize: 1)
        for worker in ["a", "b", "c", "d", "e"] { #expect(ledger.waitForWork(worker)) }
        #expect(ledger.add(entries(1...4)).count == 2)
        var running = 0
        while running < 4 {
            #expect(ledger.arrive().count == (running < 3 ? 1 : 0))
            #expect(unit(ledger).count == 1)
            running += 1
        }
        #expect(unit(ledger).isEmpty)
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
        #expect(ledger.settle(ids(1...1)) == nil)
        #expect(ledger.settle(ids(2...2)) == "reader")
        #expect(ledger.settle([]) == nil)
    }

    @Test func `collects acknowledgements, and takes them back when they did not arrive`() {
        let ledger = Ledger(capacity: 9, unitSize: 9)
        let ids = entries(1...4).map(\.id)
        _ = ledger.settle(Array(ids[..<2]))
        let taken = ledger.takeAcknowledgements()
        _ = ledger.settle(Array(ids[2...]))
        ledger.putBack(taken)
        #expect(ledger.takeAcknowledgements() == ids)
        #expect(ledger.takeAcknowledgements().isEmpty)
    }

    @Test func `gives acknowledgements in ascending order`() {
        let ledger = Ledger(capacity: 9, unitSize: 9)
        _ = ledger.settle(ids(3...4))
        _ = ledger.settle(ids(1...2))
        #expect(ledger.takeAcknowledgements() == ids(1...4))
    }

    @Test func `holds what it has ruled upon until the server knows`() {
        let ledger = Ledger(capacity: 2, unitSize: 2)
        _ = ledger.add(entries(1...2))
        _ = unit(ledger)
        #expect(ledger.waitForRoom("reader"))
        let rulings = ids(1...2).map { Ruling.handBack($0) }
        #expect(ledger.settle([], rulings) == nil)
        #expect(ledger.takeRulings() == ids(1...2))
        #expect(ledger.room == 0)
        ledger.putBack(rulings)
        #expect(ledger.takeRulings() == ids(1...2))
        #expect(ledger.ruled(ids(1...2)) == "reader")
        #expect(ledger.heldIDs.isEmpty)
    }

    @Test func `keeps a suspect for the worker in quarantine`() {
        let ledger = Ledger(capacity: 9, unitSize: 9)
        #expect(ledger.waitForSuspect("quarantine"))
        #expect(ledger.add(entries(1...2) + entries(3...3, deliveryCount: 3) + entries(4...5)) == ["quarantine"])
        #expect(ledger.holdsSuspect)
        #expect(unit(ledger) == [1, 2, 4, 5])
        #expect(suspect(ledger) == 3)
        #expect(suspect(ledger) == nil)
        ledger.beginSuspect()
        _ = ledger.settle(ids(3...3))
        _ = ledger.leaveSuspect(ids(3...3)[0])
        #expect(!ledger.holdsSuspect)
    }

    @Test func `lets go of a suspect that could not be begun`() {
        let ledger = Ledger(capacity: 1, unitSize: 1)
        _ = ledger.add(entries(1...1, deliveryCount: 3))
        #expect(suspect(ledger) == 1)
        #expect(ledger.waitForRoom("reader"))
        #expect(ledger.leaveSuspect(ids(1...1)[0]) == "reader")
        #expect(ledger.heldIDs.isEmpty)
    }

    @Test func `begins, reads and claims nothing while it is paused`() {
        let ledger = Ledger(capacity: 9, unitSize: 1)
        _ = ledger.add(entries(1...2))
        #expect(unit(ledger) == [1])
        ledger.pause()
        #expect(!ledger.isQuiet)
        #expect(unit(ledger) == [])
        #expect(ledger.waitForWork("worker"))
        #expect((ledger.room, ledger.claimRoom) == (0, 0))
        #expect(ledger.waitForRoom("reader"))
        #expect(ledger.settle(ids(1...1)) == nil)
        #expect(ledger.isQuiet)
        #expect(ledger.resume() == ["worker", "reader"])
        #expect(unit(ledger) == [2])
    }

    @Test func `hands back what waits for long because work is paused`() {
        let ledger = Ledger(capacity: 9, unitSize: 1)
        _ = ledger.add(entries(1...2))
        #expect(ledger.waitForWork("worker") == false)
        ledger.pause()
        #expect(ledger.waitForWork("worker"))
        ledger.handBack(waiting: Set(ids(1...1)))
        #expect(ledger.takeRulings() == ids(1...1))
    }

    @Test func `ends the worker in quarantine when it is closed, after what waits for it`() {
        let ledger = Ledger(capacity: 9, unitSize: 1)
        _ = ledger.add(entries(1...1, deliveryCount: 3))
        _ = ledger.close()
        #expect(suspect(ledger) == 1)
        if case .finished = ledger.nextSuspect() {} else { Issue.record("nothing is left for the quarantine") }
        #expect(!ledger.waitForSuspect("quarantine"))
    }

    @Test func `lets the reader go when it is stopped, and workers when it is closed`() {
        let ledger = Ledger(capacity: 1, unitSize: 1)
        #expect(ledger.waitForWork("worker"))
        _ = ledger.add(entries(1...1))
        #expect(ledger.waitForRoom("reader"))
        #expect(ledger.stop() == "reader")
        #expect(!ledger.waitForRoom("reader"))
        #expect(ledger.close().isEmpty)
        if case .finished = ledger.next() {} else { Issue.record("a closed ledger is finished") }
        #expect(!ledger.waitForWork("worker"))
    }

    @Test func `hands back what nobody has begun, and what comes too late`() {
        let ledger = Ledger(capacity: 9, unitSize: 2)
        _ = ledger.add(entries(1...5))
        _ = unit(ledger)
        _ = ledger.close()
        _ = ledger.add(entries(6...6))
        #expect(ledger.takeRulings() == ids(3...6))
        #expect(ledger.heldIDs == Set(ids(1...6)))
        #expect(unit(ledger) == [])
    }
}
