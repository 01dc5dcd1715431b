import FoundationEssentials
import PostgresClient
import Push
import Testing
import WireFormat

@testable import TokenRegistry

/// Dead tokens are pruned, unless FCM reports too many at once.
struct InstallPrunerTests {
    /// Runs `body` with 300 pushed installations, and with the events that report `dead` of them as dead, 100 outcomes each.
    private func withPushedCrowd(
        dead: Int, _ body: (Registry, [NotificationSettled]) async throws -> Void
    ) async throws {
        try await Registry.run { registry in
            let owner = try await registry.makeUser()
            try await registry.makeTopic(owner: owner, members: [])
            try await registry.addCrowd(of: 300)
            let request = NotificationRequested.topic()
            try await registry.request(request)
            let repository = DeliveryRepository(registry.client)
            let deliveries = try await repository.find(notificationID: request.notificationID)
            let settlements = deliveries.enumerated().map { index, delivery in
                DeliverySettlement(
                    id: delivery.id, outcome: index < dead ? .dead : .accepted, code: index < dead ? "UNREGISTERED" : nil)
            }
            _ = try await repository.settle(settlements)
            let outcomes = zip(deliveries, settlements).map { delivery, settlement in
                SettledDelivery(
                    deliveryID: delivery.id, installationID: delivery.installID, outcome: settlement.outcome,
                    code: settlement.code, sentAt: Date())
            }
            let events = stride(from: 0, to: 300, by: 100).map {
                NotificationSettled(notificationID: request.notificationID, outcomes: Array(outcomes[$0..<$0 + 100]))
            }
            try await body(registry, events)
        }
    }

    private func states(_ registry: Registry) async throws -> [String: Int] {
        let rows = try await registry.client.query("SELECT state, count(*) AS n FROM push_installs GROUP BY state")
        return try Dictionary(uniqueKeysWithValues: rows.map { (try $0.decode("state"), try $0.decode("n")) })
    }

    @Test func `some dead tokens are pruned, and the others are not`() async throws {
        try await withPushedCrowd(dead: 90) { registry, events in
            for event in events { try await registry.settled(event) }
            #expect(try await states(registry) == ["invalid": 90, "active": 210])
        }
    }

    @Test func `too many dead tokens at once become suspect, also those pruned before the guard tripped`() async throws {
        try await withPushedCrowd(dead: 280) { registry, events in
            for event in events { try await registry.settled(event) }
            #expect(try await states(registry) == ["suspect": 280, "active": 20])
            for event in events { try await registry.settled(event) }
            #expect(try await states(registry) == ["suspect": 280, "active": 20], "a repeated event changes nothing")
            let next = NotificationRequested.topic()
            try await registry.request(next)
            let deliveries = try await DeliveryRepository(registry.client).find(notificationID: next.notificationID)
            #expect(deliveries.count == 20, "suspect installations get no push")
        }
    }

    @Test func `installations without a user are pruned, and do not trip the guard`() async throws {
        try await withPushedCrowd(dead: 280) { registry, events in
            try await registry.client.execute("UPDATE push_installs SET user_id = NULL")
            for event in events { try await registry.settled(event) }
            #expect(try await states(registry) == ["invalid": 280, "active": 20])
        }
    }

    @Test func `the first push after its time decides on a suspect installation`() async throws {
        try await Registry.run { registry in
            let user = try await registry.makeUser(tokens: "dead:1", "alive:1")
            try await registry.client.execute("UPDATE push_installs SET state = 'suspect', suspect_until = now() - interval '1 second'")
            let request = NotificationRequested.make(.user(user), kind: .jobCompleted)
            try await registry.request(request)
            let deliveries = try await DeliveryRepository(registry.client).find(notificationID: request.notificationID)
            let dead = try #require(try await registry.install("dead:1"))
            #expect(deliveries.count == 2)
            _ = try await DeliveryRepository(registry.client).settle(
                deliveries.map { DeliverySettlement(id: $0.id, outcome: $0.installID == dead.id ? .dead : .accepted) })
            try await registry.settled(
                NotificationSettled(
                    notificationID: request.notificationID,
                    outcomes: deliveries.map {
                        SettledDelivery(
                            deliveryID: $0.id, installationID: $0.installID,
                            outcome: $0.installID == dead.id ? .dead : .accepted, sentAt: Date())
                    }))
            #expect(try await registry.install("dead:1")?.state == .invalid)
            #expect(try await registry.install("alive:1")?.state == .active)
        }
    }
}
