import RedisClient
import Testing

@testable import EventBus

@Suite("The ledger of a consumer")
struct ConsumerLedgerTests {
    private func entries(_ numbers: ClosedRange<UInt64>) -> [DeliveredEntry] {
        numbers.map { DeliveredEntry(id: EntryID(milliseconds: $0, sequence: 0), fields: [], deliveryCount: 1) }
    }

    private func unit(_ ledger: inout ConsumerLedger<String>) -> [UInt64] {
        if case .work(let unit) = ledger.next() { unit.map(\.id.milliseconds) } else { [] }
    }

    @Test func `has room for what is not in hand`() {
        var ledger = ConsumerLedger<String>(capacity: 3, unitSize: 1)
        #expect(ledger.room == 3)
        _ = ledger.add(entries(1...2))
        #expect(ledger.room == 1)
        _ = unit(&ledger)
        #expect(ledger.room == 1)
        _ = ledger.settle(entries(1...1), acknowledged: [])
        #expect(ledger.room == 2)
    }

    @Test func `passes over what is in hand already`() {
        var ledger = ConsumerLedger<String>(capacity: 9, unitSize: 9)
        _ = ledger.add(entries(1...3))
        _ = ledger.add(entries(2...4))
        let result1 = unit(&ledger)
        #expect(result1 == [1, 2, 3, 4])
        _ = ledger.add(entries(4...5))
        let result2 = unit(&ledger)
        #expect(result2 == [5])
    }

    @Test func `takes a settled entry in again`() {
        var ledger = ConsumerLedger<String>(capacity: 9, unitSize: 9)
        _ = ledger.add(entries(1...1))
        _ = unit(&ledger)
        _ = ledger.settle(entries(1...1), acknowledged: [])
        _ = ledger.add(entries(1...1))
        let result3 = unit(&ledger)
        #expect(result3 == [1])
    }

    @Test func `wakes as many workers as there are units`() {
        var ledger = ConsumerLedger<String>(capacity: 90, unitSize: 10)
        for worker in ["a", "b", "c", "d"] { _ = ledger.waitForWork(worker) }
        let result4 = ledger.add(entries(1...11))
        #expect(result4.count == 2)
        let result5 = ledger.add(entries(12...12))
        #expect(result5.count == 2)
        let result6 = ledger.add(entries(13...99))
        #expect(result6.isEmpty)
    }

    @Test func `hands out units of the given size, in order`() {
        var ledger = ConsumerLedger<String>(capacity: 90, unitSize: 4)
        _ = ledger.add(entries(1...6))
        let result7 = unit(&ledger)
        #expect(result7 == [1, 2, 3, 4])
        let result8 = unit(&ledger)
        #expect(result8 == [5, 6])
        let result9 = unit(&ledger)
        #expect(result9 == [])
    }

    @Test func `makes the reader wait while there is no room, and no longer`() {
        var ledger = ConsumerLedger<String>(capacity: 1, unitSize: 1)
        let result10 = ledger.waitForRoom("reader")
        #expect(!result10)
        _ = ledger.add(entries(1...2))
        let result11 = ledger.waitForRoom("reader")
        #expect(result11)
        let result12 = ledger.settle(entries(1...1), acknowledged: [])
        #expect(result12 == nil)
        let result13 = ledger.settle(entries(2...2), acknowledged: [])
        #expect(result13 == "reader")
        let result14 = ledger.settle([], acknowledged: [])
        #expect(result14 == nil)
    }

    @Test func `collects acknowledgements, and takes them back when they did not arrive`() {
        var ledger = ConsumerLedger<String>(capacity: 9, unitSize: 9)
        let ids = entries(1...4).map(\.id)
        _ = ledger.settle([], acknowledged: Array(ids[..<2]))
        let taken = ledger.takeAcknowledgements()
        _ = ledger.settle([], acknowledged: Array(ids[2...]))
        ledger.putBack(taken)
        let result15 = ledger.takeAcknowledgements()
        #expect(result15 == ids)
        let result16 = ledger.takeAcknowledgements()
        #expect(result16.isEmpty)
    }

    @Test func `lets the reader go when it is stopped, and workers when it is closed`() {
        var ledger = ConsumerLedger<String>(capacity: 1, unitSize: 1)
        let result17 = ledger.waitForWork("worker")
        #expect(result17)
        _ = ledger.add(entries(1...1))
        let result18 = ledger.waitForRoom("reader")
        #expect(result18)
        let result19 = ledger.stop()
        #expect(result19 == "reader")
        let result20 = ledger.waitForRoom("reader")
        #expect(!result20)
        let result21 = ledger.close()
        #expect(result21.isEmpty)
        let result22 = unit(&ledger)
        #expect(result22 == [1])
        if case .finished = ledger.next() {} else { Issue.record("a closed and empty ledger is finished") }
        let result23 = ledger.waitForWork("worker")
        #expect(!result23)
        let result24 = ledger.add(entries(2...2))
        #expect(result24.isEmpty)
        let result25 = unit(&ledger)
        #expect(result25 == [])
    }

    @Test func `lets go of what nobody has begun`() {
        var ledger = ConsumerLedger<String>(capacity: 9, unitSize: 2)
        _ = ledger.add(entries(1...5))
        _ = unit(&ledger)
        let result26 = ledger.abandonWaiting()
        #expect(result26 == 3)
        #expect(ledger.heldIDs.count == 2)
        let result27 = unit(&ledger)
        #expect(result27 == [])
    }
}
