import FCMEmulator
import FoundationEssentials
import PostgresClient
import TestSupport
import Testing
import WireFormat

private let slowMinutes = ProcessInfo.processInfo.environment["SLOW_FCM_MINUTES"].flatMap { Double($0) }

/// An FCM that becomes slow and stays slow, for `SLOW_FCM_MINUTES` minutes (`make verify-slow-fcm MINUTES=20`).
@Suite(.enabled(if: slowMinutes != nil, "takes minutes: set SLOW_FCM_MINUTES"))
struct SlowFCMTests {
    /// The number of bulk pushes, the time of an answer, and the longest time of an urgent push.
    private static let (count, answerTime, maxUrgentLatency) = (100_000, Duration.milliseconds(1500), Duration.seconds(20))
    /// Half of the notifier's least rate: the machine has the emulator and the database to run as well.
    private static let minRate = 50.0

    @Test func `a notifier behind a slow FCM keeps running and sending, and urgent pushes do not wait`() async throws {
        let end = ContinuousClock.now + .seconds((slowMinutes ?? 0) * 60)
        try await PushSystem.with(settings: ["LOG_LEVEL": "info"]) { system in
            _ = try await system.crowd(FanOutSize.targets(Self.count))
            let user = try await system.makeUser()
            try await system.signIn(system.emulator.mintToken(), user)
            // The notifier measures short answer times first.
            for _ in 0..<3 { try await system.settled(try await system.push(to: .user(user))) }
            let bulk = try await system.fanOut(expiresIn: 4 * 3600)
            try await eventually("the fan-out has begun") { system.emulator.statistics.sends > 500 }
            var slow = FaultRule(.none)
            slow.count = nil
            slow.latency = .fixed(Self.answerTime)
            system.emulator.addFault(slow)
            let (start, sendsBefore) = (ContinuousClock.now, system.emulator.statistics.sends)
            var longest = Duration.zero
            while ContinuousClock.now < max(end, start + .seconds(30)), system.services.isRunning("notifier") {
                let requested = ContinuousClock.now
                let person = try await system.makeUser()
                try await system.signIn(system.emulator.mintToken(), person)
                #expect(try await system.settled(try await system.push(to: .user(person))) == ["accepted": 1])
                longest = max(longest, .now - requested)
                try await Task.sleep(for: .seconds(1))
            }
            let (sends, seconds) = (system.emulator.statistics.sends - sendsBefore, (ContinuousClock.now - start) / .seconds(1))
            print("slow FCM: \(sends) pushes in \(Int(seconds)) s, an urgent one took \(longest) at most")
            #expect(system.services.isRunning("notifier"), "\(system.services.tail(of: "notifier"))")
            #expect(longest < Self.maxUrgentLatency)
            let left = try await system.states(of: bulk).filter { $0.key != "accepted" }.values.reduce(0, +)
            #expect(left == 0 || Double(sends) / seconds >= Self.minRate, "\(sends) pushes in \(seconds) s")
        }
    }
}
