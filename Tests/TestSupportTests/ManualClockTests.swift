import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1)))
struct ManualClockTests {
    private let clock = ManualClock()

    @Test func `a sleep ends when the clock has reached its end, and not before`() async throws {
        let start = clock.now
        let slept = Task { [clock] in
            try await clock.sleep(for: .seconds(2))
            return clock.now
        }
        await clock.waitForSleep(of: .seconds(2))
        clock.advance(by: .seconds(1))
        await clock.waitForSleep(of: .seconds(1))
        clock.advance(by: .seconds(1))
        #expect(try await slept.value - start == .seconds(2))
        try await clock.sleep(until: start, tolerance: nil)
    }

    @Test func `a cancelled wait for a sleep ends at once`() async {
        let waiting = Task { [clock] in await clock.waitForSleep(of: .seconds(1)) }
        await Task.yield()
        waiting.cancel()
        await waiting.value
    }

    @Test func `a cancelled sleep ends at once`() async {
        let task = Task { [clock] in try await clock.sleep(for: .seconds(600)) }
        await clock.waitForSleep(of: .seconds(600))
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        await #expect(throws: CancellationError.self) {
            try await Task { [clock] in
                withUnsafeCurrentTask { $0?.cancel() }
                try await clock.sleep(for: .seconds(600))
            }.value
        }
    }
}
