import TestSupport
import Testing

@testable import EventBus

@Suite("The limit of log lines")
struct LogLimitTests {
    @Test func `admits one line an interval`() {
        let clock = ManualClock()
        let limit = LogLimit(every: .seconds(30), clock: clock)
        #expect(limit.admits())
        #expect(!limit.admits())
        clock.advance(by: .seconds(29))
        #expect(!limit.admits())
        clock.advance(by: .seconds(1))
        #expect(limit.admits())
        #expect(!limit.admits())
    }
}
