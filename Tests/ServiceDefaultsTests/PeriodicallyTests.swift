import Logging
import ServiceDefaults
import Synchronization
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1)))
struct PeriodicallyTests {
    private struct Broken: Error {}

    @Test func `a body that fails runs again after each interval, until it is cancelled`() async {
        let clock = ManualClock()
        let runs = Atomic(0)
        let body: @Sendable () async throws -> Void = {
            runs.add(1, ordering: .relaxed)
            throw Broken()
        }
        await withDiscardingTaskGroup { group in
            group.addTask {
                let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
                await periodically("a test", every: .seconds(60), logger: logger, clock: clock, body)
            }
            for count in 1...3 {
                await clock.waitForSleep(of: .seconds(60))
                #expect(runs.load(ordering: .relaxed) == count)
                clock.advance(by: .seconds(60))
            }
            group.cancelAll()
        }
    }
}
