import Testing

@testable import EventBus

/// The machine as a reference type, because an expectation cannot mutate a value.
private final class Ledger {
    private var state: StreamConsumerStateMachine<String>

    init(capacity: Int, unitSize: Int) { state = StreamConsumerStateMachine(capacity: capacity, unitSize: unitSize) }

    var room: Int { state.room }
    var claimRoom: Int { state.claimRoom }
    var heldIDs: [EntryID] { state.heldIDs }
    func add(_ entries: [DeliveredEntry]) -> [String] { state.add(entries) }
    func next() -> StreamConsumerStateMachine<String>.Next { state.next() }
    func waitForRoom(_ reader: String) -> Bool { state.waitForRoom(reader) }
    func readerToWake() -> String? { state.readerToWake() }
    func waitForWork(_ worker: String) -> Bool { state.waitForWork(worker) }
    var holdsSuspect: Bool { state.holdsSuspect }
    /// Settles entries of a unit that was begun before, or is begun for it.
    func settle(_ acknowledged: [EntryID], _ dispositions: [Disposition] = []) -> String? {
        if state.isQuiet { _ = state.next() }
        return state.settle(acknowledged: acknowledged, dispositions)
    }
    func takeDispositions() -> [EntryID] { state.takeDispositions().map(\.id) }
    func requeue(_ dispositions: [Disposition]) { state.requeue(dispositions) }
    func applied(_ ids: [EntryID]) -> String? { state.applied(ids) }
    func arrive() -> [String] { state.arrive() }
    func takeAcknowledgements() -> [EntryID] { state.takeAcknowledgements() }
    func requeue(_ ids: [EntryID]) { state.requeue(ids) }
    func nextSuspect() -> StreamConsumerStateMachine<String>.Next { state.nextSuspect() }
    func waitForSuspect(_ worker: String) -> Bool { state.waitForSuspect(worker) }
    func beginSuspect() { state.beginSuspect() }
    func leaveSuspect(_ id: EntryID) -> String? { state.leaveSuspect(id) }
    func release(waiting ids: Set<EntryID>) { state.release(waiting: ids) }
    var isQuiet: Bool { state.isQuiet }
    func pause() { state.pause() }
    func resume() -> [String] { state.resume() }
    func stop() -> String? { state.stop() }
    func close() -> [String] { state.close() }
}

@Suite("A consumer's state machine")
struct StreamConsumerStateMachineTests {
    private func entries(_ numbers: ClosedRange<UInt64>, deliveryCount: Int = 1) -> [DeliveredEntry] {
        numbers.map { DeliveredEntry(id: EntryID(milliseconds: $0, sequence: 0), fields: [], deliveryCount: deliveryCount) }
    }

    private func ids(_ numbers: ClosedRange<UInt64>) -> [EntryID] { entries(numbers).map(\.id) }

    private func unit(_ machine: Ledger) -> [UInt64] {
        if case .work(let unit) = machine.next() { unit.map(\.id.milliseconds) } else { [] }
    }

    private func suspect(_ machine: Ledger) -> UInt64? {
        if case .work(let unit) = machine.nextSuspect() { unit.first?.id.milliseconds } else { nil }
    }

    @Test func `has room for its capacity less the held entries`() {
        let machine = Ledger(capacity: 3, unitSize: 1)
        #expect(machine.room == 3)
        _ = machine.add(entries(1...2))
        #expect(machine.room == 1)
        _ = unit(machine)
        #expect(machine.room == 1)
        _ = machine.settle(ids(1...1))
        #expect(machine.room == 2)
    }

    @Test func `has room for claims when reading has used up its own, and reading then waits`() {
        let machine = Ledger(capacity: 3, unitSize: 1)
        _ = machine.add(entries(1...3))
        #expect(machine.room == 0)
        #expect(machine.claimRoom == 3)
        _ = machine.add(entries(4...6, deliveryCount: 2))
        #expect(machine.claimRoom == 0)
        _ = machine.settle(ids(1...3))
        #expect(machine.room == 0)
        #expect(machine.claimRoom == 3)
        _ = machine.settle(ids(4...4))
        #expect(machine.room == 1)
    }

    @Test func `skips entries that are held already`() {
        let machine = Ledger(capacity: 9, unitSize: 9)
        _ = machine.add(entries(1...3))
        _ = machine.add(entries(2...4))
        #expect(unit(machine) == [1, 2, 3, 4])
        _ = machine.add(entries(4...5))
        #expect(unit(machine) == [5])
    }

    @Test func `accepts a settled entry again`() {
        let machine = Ledger(capacity: 9, unitSize: 9)
        _ = machine.add(entries(1...1))
        _ = unit(machine)
        _ = machine.settle(ids(1...1))
        _ = machine.add(entries(1...1))
        #expect(unit(machine) == [1])
    }

    @Test func `wakes a worker for each unit, at most two at a time`() {
        let machine = Ledger(capacity: 90, unitSize: 10)
        for worker in ["a", "b", "c", "d"] { #expect(machine.waitForWork(worker)) }
        #expect(machine.add(entries(1...5)).count == 1)
        #expect(machine.add(entries(6...11)).count == 1)
        #expect(machine.add(entries(12...40)).isEmpty)
    }

    @Test func `lets an arriving worker wake the next while more units wait`() {
        let machine = Ledger(capacity: 90, unitSize: 1)
        for worker in ["a", "b", "c", "d", "e"] { #expect(machine.waitForWork(worker)) }
        #expect(machine.add(entries(1...4)).count == 2)
        var running = 0
        while running < 4 {
            #expect(machine.arrive().count == (running < 3 ? 1 : 0))
            #expect(unit(machine).count == 1)
            running += 1
        }
        #expect(unit(machine).isEmpty)
    }

    @Test func `returns units of the given size, in order`() {
        let machine = Ledger(capacity: 90, unitSize: 4)
        _ = machine.add(entries(1...6))
        #expect(unit(machine) == [1, 2, 3, 4])
        #expect(unit(machine) == [5, 6])
        #expect(unit(machine) == [])
    }

    @Test func `makes the reader wait until there is room`() {
        let machine = Ledger(capacity: 1, unitSize: 1)
        #expect(!machine.waitForRoom("reader"))
        _ = machine.add(entries(1...2))
        #expect(machine.waitForRoom("reader"))
        #expect(machine.settle(ids(1...1)) == nil)
        #expect(machine.settle(ids(2...2)) == "reader")
        #expect(machine.applied([]) == nil)
    }

    @Test func `lets the reader wait for half of the room while entries wait for workers`() {
        let machine = Ledger(capacity: 4, unitSize: 1)
        _ = machine.add(entries(1...4))
        #expect(machine.waitForRoom("reader"))
        #expect(machine.settle(ids(1...1)) == nil)
        #expect(machine.settle(ids(2...2)) == "reader")
    }

    @Test func `wakes the reader when a worker has taken the last entry`() {
        let machine = Ledger(capacity: 4, unitSize: 2)
        _ = machine.add(entries(1...4))
        #expect(unit(machine) == [1, 2])
        #expect(machine.settle(ids(1...1)) == nil)
        #expect(machine.waitForRoom("reader"))
        #expect(machine.readerToWake() == nil)
        #expect(unit(machine) == [3, 4])
        #expect(machine.readerToWake() == "reader")
    }

    @Test func `collects acknowledgements, and requeues them when they failed`() {
        let machine = Ledger(capacity: 9, unitSize: 2)
        let ids = entries(1...4).map(\.id)
        _ = machine.add(entries(1...4))
        _ = machine.settle(Array(ids[..<2]))
        let taken = machine.takeAcknowledgements()
        _ = machine.settle(Array(ids[2...]))
        machine.requeue(taken)
        #expect(machine.takeAcknowledgements() == ids)
        #expect(machine.takeAcknowledgements().isEmpty)
    }

    @Test func `returns acknowledgements in ascending order`() {
        let machine = Ledger(capacity: 9, unitSize: 2)
        _ = machine.add(entries(1...4))
        _ = machine.settle(ids(3...4))
        _ = machine.settle(ids(1...2))
        #expect(machine.takeAcknowledgements() == ids(1...4))
    }

    @Test func `holds entries with a disposition until the server has applied it`() {
        let machine = Ledger(capacity: 2, unitSize: 2)
        _ = machine.add(entries(1...2))
        _ = unit(machine)
        #expect(machine.waitForRoom("reader"))
        let dispositions = ids(1...2).map { Disposition.release($0) }
        #expect(machine.settle([], dispositions) == nil)
        #expect(machine.takeDispositions() == ids(1...2))
        #expect(machine.room == 0)
        machine.requeue(dispositions)
        #expect(machine.takeDispositions() == ids(1...2))
        #expect(machine.applied(ids(1...2)) == "reader")
        #expect(machine.heldIDs.isEmpty)
    }

    @Test func `keeps a suspect for the isolated worker`() {
        let machine = Ledger(capacity: 9, unitSize: 9)
        #expect(machine.waitForSuspect("isolation"))
        #expect(machine.add(entries(1...2) + entries(3...3, deliveryCount: 3) + entries(4...5)) == ["isolation"])
        #expect(machine.holdsSuspect)
        #expect(unit(machine) == [1, 2, 4, 5])
        #expect(suspect(machine) == 3)
        #expect(suspect(machine) == nil)
        machine.beginSuspect()
        _ = machine.settle(ids(3...3))
        _ = machine.leaveSuspect(ids(3...3)[0])
        #expect(!machine.holdsSuspect)
    }

    @Test func `drops a suspect that could not be begun`() {
        let machine = Ledger(capacity: 1, unitSize: 1)
        _ = machine.add(entries(1...1, deliveryCount: 3))
        #expect(suspect(machine) == 1)
        #expect(machine.waitForRoom("reader"))
        #expect(machine.leaveSuspect(ids(1...1)[0]) == "reader")
        #expect(machine.heldIDs.isEmpty)
    }

    @Test func `begins, reads and claims nothing while it is paused`() {
        let machine = Ledger(capacity: 9, unitSize: 1)
        _ = machine.add(entries(1...2))
        #expect(unit(machine) == [1])
        machine.pause()
        #expect(!machine.isQuiet)
        #expect(unit(machine) == [])
        #expect(machine.waitForWork("worker"))
        #expect((machine.room, machine.claimRoom) == (0, 0))
        #expect(machine.waitForRoom("reader"))
        #expect(machine.settle(ids(1...1)) == nil)
        #expect(machine.isQuiet)
        #expect(machine.resume() == ["worker", "reader"])
        #expect(unit(machine) == [2])
    }

    @Test func `releases entries that wait long because work is paused`() {
        let machine = Ledger(capacity: 9, unitSize: 1)
        _ = machine.add(entries(1...2))
        #expect(machine.waitForWork("worker") == false)
        machine.pause()
        #expect(machine.waitForWork("worker"))
        machine.release(waiting: Set(ids(1...1)))
        #expect(machine.takeDispositions() == ids(1...1))
    }

    @Test func `ends the isolated worker when it is closed, after the waiting suspects`() {
        let machine = Ledger(capacity: 9, unitSize: 1)
        _ = machine.add(entries(1...1, deliveryCount: 3))
        _ = machine.close()
        #expect(suspect(machine) == 1)
        if case .finished = machine.nextSuspect() {} else { Issue.record("nothing is left for the isolation") }
        #expect(!machine.waitForSuspect("isolation"))
    }

    @Test func `ends the reader when it is stopped, and the workers when it is closed`() {
        let machine = Ledger(capacity: 1, unitSize: 1)
        #expect(machine.waitForWork("worker"))
        _ = machine.add(entries(1...1))
        #expect(machine.waitForRoom("reader"))
        #expect(machine.stop() == "reader")
        #expect(!machine.waitForRoom("reader"))
        #expect(machine.close().isEmpty)
        if case .finished = machine.next() {} else { Issue.record("a closed machine is finished") }
        #expect(!machine.waitForWork("worker"))
    }

    @Test func `does not go on after an entry was settled twice`() async {
        await #expect(processExitsWith: .failure) {
            var machine = StreamConsumerStateMachine<String>(capacity: 9, unitSize: 1)
            let entry = DeliveredEntry(id: EntryID(milliseconds: 1, sequence: 0), fields: [], deliveryCount: 1)
            _ = machine.add([entry, DeliveredEntry(id: EntryID(milliseconds: 2, sequence: 0), fields: [], deliveryCount: 1)])
            _ = (machine.next(), machine.next())
            _ = machine.settle(acknowledged: [entry.id], [])
            _ = machine.settle(acknowledged: [entry.id], [])
        }
    }

    @Test func `releases entries that are not begun or arrive after it was closed`() {
        let machine = Ledger(capacity: 9, unitSize: 2)
        _ = machine.add(entries(1...5))
        _ = unit(machine)
        _ = machine.close()
        _ = machine.add(entries(6...6))
        #expect(machine.takeDispositions() == ids(3...6))
        #expect(machine.heldIDs == ids(1...6))
        #expect(unit(machine) == [])
    }
}
