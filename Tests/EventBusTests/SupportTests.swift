import PostgresClient
import Testing

@testable import EventBus

struct RelayPaceTests {
    @Test func `pauses are nil after a full batch, short after work, and longer after empty polls`() {
        var pace = RelayPace(OutboxRelayConfiguration())
        pace.relayed(500)
        #expect(pace.pause() == nil)
        pace.relayed(3)
        #expect(pace.pause() == .milliseconds(50))
        var pauses: [Duration?] = []
        for _ in 1...7 {
            pace.relayed(0)
            pauses.append(pace.pause())
        }
        #expect(pauses == [100, 200, 400, 800, 1000, 1000, 1000].map { .milliseconds($0) })
        pace.failed()
        #expect(pace.isFailing)
        #expect(pace.pause(random: 0) == .milliseconds(50))
        pace.failed()
        #expect(pace.pause(random: 0) == .milliseconds(100))
        pace.relayed(1)
        #expect(!pace.isFailing)
        #expect(pace.pause() == .milliseconds(50))
    }
}

@Suite struct SilenceTests {
    @Test func `the locks of a consumer that stands still within a transaction end about when its entries are claimed`() {
        let silence = EventConsumerConfiguration().silenceLimit
        #expect(PostgresConfiguration(url: "").idleTransactionTimeout <= silence + .seconds(1))
    }
}

@Suite struct EntryIDTests {
    @Test(arguments: [EntryID.zero, EntryID(milliseconds: 1_700_000_000_000, sequence: 7), EntryID(milliseconds: .max, sequence: .max)])
    func `an id is read from its own text`(id: EntryID) {
        #expect(EntryID(id.description) == id)
    }

    @Test(arguments: ["", "-", "1", "1-", "-1", "1-2-3", "+1-2", "1-+2", " 1-2", "1-2 ", "a-1", "18446744073709551616-0", "１-2"])
    func `any other text is not an id`(text: String) {
        #expect(EntryID(text) == nil)
    }

    @Test func `ids are ordered by time, then by sequence`() {
        let ids = [EntryID(milliseconds: 1, sequence: 9), EntryID(milliseconds: 2, sequence: 0), EntryID(milliseconds: 2, sequence: 1)]
        #expect(ids.shuffled().sorted() == ids)
    }
}
