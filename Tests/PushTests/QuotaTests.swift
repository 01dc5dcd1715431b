import FCMEmulator
import FoundationEssentials
import PostgresClient
import TestSupport
import Testing
import WireFormat

/// Somebody who waits for a push does not wait for a hundred thousand others.
@Suite struct QuotaTests {
    /// How long an urgent push may take from the row in the outbox to its settlement: every second one of a hundred, and 99 of
    /// them on a machine with much else to do. To wait for the lane would be ten minutes.
    private static let (urgentUsual, urgentMax) = (Duration.seconds(5), Duration.seconds(20))
    private static let urgentCount = 100
    /// How long FCM says that the lane should wait.
    private static let pauseSeconds = 600

    @Test func `a lane that is refused for its quota pauses, and urgent pushes do not wait for it`() async throws {
        try await PushSystem.with { system in
            let phones = try await system.crowd(FanOutSize.targets(400))
            let users = try await Self.users(20, system)
            // An access token is had before, and both services are awake.
            try await system.settled(try await system.push(to: .user(users[0])))
            var full = FaultRule(.error(.quotaExceeded))
            full.count = nil
            full.retryAfter = "\(Self.pauseSeconds)"
            system.emulator.addFault(full)
            let bulk = try await system.fanOut(expiresIn: 7200)
            try await eventually("all of the lane waits; \(system.services.tail(of: "notifier"))") {
                try await Self.waiting(bulk, system) == phones.count
            }
            system.emulator.clearFaults()
            let before = Self.requests(to: phones, system)
            let times = try await Self.urgentTimes(users, system).sorted()
            #expect(times[Self.urgentCount / 2 - 1] < Self.urgentUsual && times[Self.urgentCount * 99 / 100 - 1] < Self.urgentMax)
            #expect(Self.requests(to: phones, system) == before, "the lane pauses, all of it")
            let states = try await system.states(of: bulk)
            #expect(states == ["pending": phones.count], "a quota is nobody's fault")
            let soonest = try await system.postgres.query(
                """
                SELECT extract(epoch FROM min(due_at) - min(created_at))::float8 AS seconds FROM deliveries
                WHERE notification_id = \(bulk)
                """
            ).first?.decode("seconds", as: Double.self)
            #expect(soonest ?? 0 >= Double(Self.pauseSeconds), "as long as FCM said")
        }
    }

    /// Makes people with a phone each who are in no crowd.
    private static func users(_ count: Int, _ system: PushSystem) async throws -> [UUID] {
        var users: [UUID] = []
        for _ in 0..<count {
            users.append(try await system.makeUser())
            try await system.signIn(system.emulator.mintToken(), users[users.count - 1])
        }
        return users
    }

    /// How long each of a hundred urgent pushes took, some at once.
    private static func urgentTimes(_ users: [UUID], _ system: PushSystem) async throws -> [Duration] {
        try await withThrowingTaskGroup { group in
            for lane in 0..<2 {
                group.addTask {
                    var times: [Duration] = []
                    for number in 0..<(urgentCount / 2) {
                        let start = ContinuousClock.now
                        let id = try await system.push(to: .user(users[(number * 2 + lane) % users.count]))
                        #expect(try await system.settled(id) == ["accepted": 1])
                        times.append(start.duration(to: .now))
                    }
                    return times
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
    }

    /// How many deliveries of a notification wait for the quota, or for their lane.
    private static func waiting(_ notificationID: UUID, _ system: PushSystem) async throws -> Int {
        let rows = try await system.postgres.query(
            """
            SELECT count(*) AS n FROM deliveries
            WHERE notification_id = \(notificationID) AND state = 'pending' AND code IN ('lane_paused', 'QUOTA_EXCEEDED')
            """)
        return Int(try rows.first?.decode("n", as: Int64.self) ?? 0)
    }

    private static func requests(to phones: [AddressedPhone], _ system: PushSystem) -> Int {
        phones.reduce(0) { $0 + system.emulator.requestTimes(to: $1.value).count }
    }
}
