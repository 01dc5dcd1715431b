import NIOCore
import Testing

@testable import IdentityAPI

@Suite struct WriteStallBudgetTests {
    private let start = NIODeadline.uptimeNanoseconds(1_000_000_000)

    /// Returns the seconds after which a client that reads at this rate is too slow; nil if it is not within ten minutes.
    private func patience(with bytesASecond: Int) -> Int? {
        var unread = WriteStallBudget(patience: .seconds(30), bytesASecond: 8_192)
        unread.wrote(.max / 2, now: start)
        for second in 1...600 {
            let now = start + .seconds(Int64(second))
            unread.took(bytesASecond, now: now)
            if unread.isTooSlow(now: now) { return second }
        }
        return nil
    }

    @Test func `a client that reads at the minimum rate is never too slow, and a slower one is after a time`() {
        #expect(patience(with: 8_192) == nil)
        #expect(patience(with: 100_000) == nil)
        #expect(patience(with: 0) == 31)
        #expect(patience(with: 4_096) == 61)
    }

    @Test func `time counts only while bytes wait, and the budget does not exceed the patience`() {
        var unread = WriteStallBudget(patience: .seconds(30), bytesASecond: 8_192)
        unread.wrote(1 << 30, now: start)
        unread.took(1 << 30, now: start)
        #expect(unread.isEmpty)
        #expect(!unread.isTooSlow(now: start + .hours(1)))
        unread.wrote(1, now: start + .hours(1))
        #expect(!unread.isTooSlow(now: start + .hours(1) + .seconds(30)))
        #expect(unread.isTooSlow(now: start + .hours(1) + .seconds(31)))
    }
}
