import AsyncPrimitives
import FCMEmulator
import FoundationEssentials
import Logging
import PostgresClient
import Push
import ServiceLifecycle
import TestSupport
import Testing
import WireFormat

@testable import Notifier

@Suite(.timeLimit(.minutes(1)))
struct RoomTests {
    /// Longer than any test takes: a wait that ends earlier was ended by the test.
    private static let forLong = Duration.seconds(600)
    private static let full = SendQueue.maxWaiting

    /// Runs `body` with a queue that sends nothing.
    private func withQueue(
        clock: any MonotonicClock = ContinuousClock(), _ body: (SendQueue) async throws -> Void
    ) async throws {
        let postgres = try PostgresClient(
            configuration: PostgresConfiguration(url: "postgresql://localhost:1/none"), logger: NotifierFixture.quiet)
        let quota = Quota(
            postgres: postgres, project: "p", limits: PushQuotaLimits(perSecond: 1000, bulkRamp: .zero),
            logger: NotifierFixture.quiet)
        let queue = SendQueue(maxInFlight: 640, quota: quota, wakeUp: AsyncSignal(), clock: clock)
        let result = await Result.catching { try await body(queue) }
        await postgres.shutdown()
        try result.get()
    }

    @Test func `a wait for room in a full lane ends after its timeout`() async throws {
        let clock = ManualClock()
        try await withQueue(clock: clock) { queue in
            #expect(await queue.waitForRoom(.bulk, for: Self.full, upTo: Self.forLong))
            async let hasRoom = queue.waitForRoom(.bulk, for: 1, upTo: .seconds(30))
            await clock.waitForSleep(of: .seconds(30))
            clock.advance(by: .seconds(30))
            #expect(await !hasRoom)
        }
    }

    @Test func `a cancelled wait ends at once, and reserves no room`() async throws {
        try await withQueue { queue in
            #expect(await queue.waitForRoom(.bulk, for: Self.full, upTo: Self.forLong))
            let waiting = Task { await queue.waitForRoom(.bulk, for: Self.full, upTo: Self.forLong) }
            waiting.cancel()
            #expect(await !waiting.value)
            queue.add([], to: .bulk, expected: Self.full)
            #expect(await queue.waitForRoom(.bulk, for: 1, upTo: .zero))
        }
    }

    @Test func `a graceful stop ends a wait at once`() async throws {
        struct Waiting: Service {
            let queue: SendQueue
            let begun: AsyncSignal
            func run() async throws {
                begun.signal()
                #expect(await !queue.waitForRoom(.bulk, for: 1, upTo: .seconds(600)))
            }
        }
        try await withQueue { queue in
            #expect(await queue.waitForRoom(.bulk, for: Self.full, upTo: Self.forLong))
            let begun = AsyncSignal()
            let group = ServiceGroup(services: [Waiting(queue: queue, begun: begun)], logger: NotifierFixture.quiet)
            let running = Task { try await group.run() }
            await begun.wait()
            await group.triggerGracefulShutdown()
            _ = await running.result
        }
    }

    @Test func `closing the queue ends a wait, and no room is reserved afterwards`() async throws {
        try await withQueue { queue in
            #expect(await queue.waitForRoom(.bulk, for: Self.full, upTo: Self.forLong))
            let waiting = Task { await queue.waitForRoom(.bulk, for: 1, upTo: Self.forLong) }
            _ = queue.close()
            #expect(await !waiting.value)
            #expect(await !queue.waitForRoom(.urgent, for: 1, upTo: Self.forLong))
        }
    }

    @Test func `released room is reserved for a waiting claim`() async throws {
        try await withQueue { queue in
            #expect(await queue.waitForRoom(.bulk, for: Self.full, upTo: Self.forLong))
            let waiting = Task { await queue.waitForRoom(.bulk, for: 1, upTo: Self.forLong) }
            queue.add([], to: .bulk, expected: Self.full)
            #expect(await waiting.value)
        }
    }

    @Test func `a full lane does not take room from other lanes`() async throws {
        try await withQueue { queue in
            for lane in [Lane.bulk, .normal] { #expect(await queue.waitForRoom(lane, for: Self.full, upTo: Self.forLong)) }
            #expect(await queue.waitForRoom(.urgent, for: 1, upTo: .zero))
        }
    }

    @Test func `an urgent push overtakes bulk pushes that wait for a slow FCM`() async throws {
        try await NotifierFixture.with { fixture in
            var slow = FaultRule(.none)
            slow.count = nil
            slow.latency = .fixed(.milliseconds(1500))
            fixture.emulator.addFault(slow)
            let tokens = (0..<600).map { _ in fixture.emulator.mintToken() }
            let bulk = try await fixture.address(tokens, lane: .bulk)
            try await eventually("some are in flight") { fixture.emulator.statistics.sends > 0 }
            let urgent = try await fixture.settled(fixture.address([fixture.emulator.mintToken()]))
            #expect(urgent.map(\.state) == [.accepted])
            let waiting = try await fixture.deliveries(bulk).count { !$0.state.isTerminal }
            #expect(waiting > 0, "it has overtaken those that came before it")
        }
    }
}
