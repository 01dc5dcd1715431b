import FCMEmulator
import FoundationEssentials
import TestSupport
import Testing
import WireFormat

/// Somebody who waits for a push does not wait for a hundred thousand others.
@Suite struct QuotaTests {
    /// How long an urgent push may take from the row in the outbox to its settlement: on a machine that is busy with something
    /// else much longer than it should, but far less than the minute for which the other lane pauses.
    private static let urgentMax = Duration.seconds(20)

    @Test func `a lane that is refused for its quota pauses, and urgent pushes do not wait for it`() async throws {
        try await PushSystem.with { system in
            let count = FanOutSize.targets(400)
            let phones = try await system.crowd(count)
            // An access token is had before, and both services are awake.
            try await system.settled(try await system.push(to: .user(phones[0].userID)))
            var full = FaultRule(.error(.quotaExceeded))
            full.count = nil
            system.emulator.addFault(full)
            let bulk = try await system.fanOut()
            try await eventually(within: .seconds(30), "FCM has refused; \(system.services.tail(of: "notifier"))") {
                system.emulator.statistics.byStatus[429] ?? 0 > 0
            }
            system.emulator.clearFaults()
            var slowest = Duration.zero
            for phone in phones.prefix(3) {
                let start = ContinuousClock.now
                let id = try await system.push(to: .user(phone.userID))
                #expect(try await system.settled(id) == ["accepted": 1])
                slowest = max(slowest, start.duration(to: .now))
            }
            #expect(slowest < Self.urgentMax)
            let states = try await system.states(of: bulk)
            #expect(states["accepted"] ?? 0 < count, "the lane pauses for a minute: \(states)")
            #expect(states["failed"] == nil && states["dead"] == nil, "a quota is nobody's fault")
        }
    }
}
