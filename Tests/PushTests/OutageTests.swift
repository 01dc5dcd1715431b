import FCMEmulator
import FoundationEssentials
import JSON
import TestSupport
import Testing
import WireFormat

/// An outage of FCM costs time, but no push and no installation.
@Suite struct OutageTests {
    @Test func `an outage of FCM loses no push and prunes no installation, and retries keep their wait`() async throws {
        let leastWait = 0.5
        try await PushSystem.with(settings: ["NOTIFY_MAX_ATTEMPTS": "20"]) { system in
            let phones = try await system.crowd(40)
            var down = FaultRule(.error(.unavailable))
            down.count = nil
            system.emulator.addFault(down)
            let bulk = try await system.fanOut()
            let urgent = try await system.push(to: .user(phones[0].userID))
            try await eventually("every phone was tried, and one of them twice") {
                let tries = phones.map { system.emulator.requestTimes(to: $0.value).count }
                return tries.allSatisfy { $0 > 0 } && tries.contains { $0 > 1 } ? () : nil
            }
            #expect(try await system.installStates() == ["active": phones.count], "an outage prunes no installation")
            system.emulator.clearFaults()
            #expect(try await system.settled(bulk) == ["accepted": phones.count])
            #expect(try await system.settled(urgent) == ["accepted": 1])
            for phone in phones.dropFirst() {
                let times = system.emulator.requestTimes(to: phone.value).map(\.at)
                for (earlier, later) in zip(times, times.dropFirst()) {
                    #expect(later.timeIntervalSince(earlier) >= leastWait, "a retry came too soon")
                }
            }
            #expect(system.emulator.acceptedCounts.keys.allSatisfy { $0 <= 2 })
        }
    }

    @Test func `dead tokens are pruned after one attempt`() async throws {
        try await PushSystem.with { system in
            let phones = try await system.crowd(FanOutSize.targets(200))
            let dead = phones.prefix(phones.count * 3 / 10)
            for phone in dead { system.emulator.deleteToken(phone.value) }
            let id = try await system.fanOut()
            let states = try await system.settled(id)
            #expect(states == ["accepted": phones.count - dead.count, "dead": dead.count])
            try await eventually("the registry has pruned") {
                try await system.installStates() == ["active": phones.count - dead.count, "invalid": dead.count] ? () : nil
            }
            #expect(dead.allSatisfy { system.emulator.requestTimes(to: $0.value).count == 1 })
            let again = try await system.fanOut()
            #expect(try await system.settled(again) == ["accepted": phones.count - dead.count])
            #expect(system.emulator.statistics.byStatus[404] == dead.count)
        }
    }

    @Test func `GOAWAY loses no push, and costs few connections`() async throws {
        try await PushSystem.with { system in
            let count = FanOutSize.targets(600)
            _ = try await system.crowd(count)
            var goAway = FaultRule(.goAway)
            goAway.every = 60
            goAway.count = 6
            system.emulator.addFault(goAway)
            let id = try await system.fanOut()
            #expect(try await system.settled(id) == ["accepted": count])
            let statistics = system.emulator.statistics
            #expect(statistics.goAways > 0)
            #expect(statistics.connections <= 8 + statistics.goAways, "eight at a time, and one for each that went away")
            #expect(system.emulator.acceptedCounts == [1: count], "refused requests were not processed, the others are answered")
        }
    }

    @Test func `one access token serves all pushes`() async throws {
        try await PushSystem.with { system in
            let count = FanOutSize.targets(300)
            _ = try await system.crowd(count)
            // One after the other: the second would supersede pushes of the first that are pending for two seconds.
            for _ in 0..<2 {
                let id = try await system.fanOut()
                #expect(try await system.settled(id) == ["accepted": count])
            }
            #expect(system.emulator.statistics.accessTokensIssued == 1)
        }
    }

    @Test func `a push whose answer is lost is sent again under the same collapse id`() async throws {
        try await PushSystem.with { system in
            let user = try await system.makeUser()
            let phone = try await system.signIn(system.emulator.mintToken(), user)
            var lost = FaultRule(.resetStream(.internalError))
            lost.isDelivered = true
            system.emulator.addFault(lost)
            let id = try await system.push(to: .user(user))
            #expect(try await system.settled(id) == ["accepted": 1])
            let messages = await system.emulator.messages(to: phone.value)
            let collapseIDs = messages.map { $0.message["apns"]?["headers"]?["apns-collapse-id"]?.string }
            #expect(messages.count == 2 && collapseIDs[0] != nil && collapseIDs[0] == collapseIDs[1])
        }
    }
}
