import FCMEmulator
import FoundationEssentials
import PostgresClient
import TestSupport
import Testing
import WireFormat

/// Urgent pushes do not wait for a paused bulk lane.
@Suite struct QuotaTests {
    /// The limits of the time of an urgent push from the row in the outbox to its settlement: of the median, and of the 99th
    /// percentile on a busy machine. Waiting for the bulk lane would take ten minutes.
    private static let (maxMedianLatency, maxUrgentLatency) = (Duration.seconds(5), Duration.seconds(20))
    private static let urgentCount = 100
    /// The pause of the lane that FCM asks for.
    private static let pauseSeconds = 600

    @Test func `a lane that is refused for its quota pauses, and urgent pushes do not wait for it`() async throws {
        try await PushSystem.with { system in
            let phones = try await system.crowd(FanOutSize.targets(400))
            let users = try await Self.users(20, system)
            // Has the notifier obtain an access token, and both services run, before the measurement.
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
            #expect(times[Self.urgentCount / 2 - 1] < Self.maxMedianLatency)
            #expect(times[Self.urgentCount * 99 / 100 - 1] < Self.maxUrgentLatency)
            #expect(Self.requests(to: phones, system) == before, "all of the lane pauses")
            let states = try await system.states(of: bulk)
            #expect(states == ["pending": phones.count], "no delivery fails for the quota")
            let soonest = try await system.postgres.query(
                """
                SELECT extract(epoch FROM min(due_at) - min(created_at))::float8 AS seconds FROM delivery_ledger
                WHERE notification_id = \(bulk)
                """
            ).first?.decode("seconds", as: Double.self)
            #expect(soonest ?? 0 >= Double(Self.pauseSeconds), "as long as FCM has asked for")
        }
    }

    /// Makes users with a phone each, outside the topic.
    private static func users(_ count: Int, _ system: PushSystem) async throws -> [UUID] {
        var users: [UUID] = []
        for _ in 0..<count {
            users.append(try await system.makeUser())
            try await system.signIn(system.emulator.mintToken(), users[users.count - 1])
        }
        return users
    }

    /// Measures a hundred urgent pushes, two at a time.
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

    /// Counts the deliveries of a notification that wait for the quota or for their lane.
    private static func waiting(_ notificationID: UUID, _ system: PushSystem) async throws -> Int {
        let rows = try await system.postgres.query(
            """
            SELECT count(*) AS n FROM delivery_ledger
            WHERE notification_id = \(notificationID) AND state = 'pending' AND code IN ('lane_paused', 'QUOTA_EXCEEDED')
            """)
        return Int(try rows.first?.decode("n", as: Int64.self) ?? 0)
    }

    private static func requests(to phones: [AddressedPhone], _ system: PushSystem) -> Int {
        phones.reduce(0) { $0 + system.emulator.requestTimes(to: $1.value).count }
    }
}
