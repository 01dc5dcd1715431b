import EventBus
import FoundationEssentials
import HeliographCrypto
import PostgresClient
import Storage
import Testing
import WireFormat

@testable import TokenRegistry

struct TopicFanOutTests {
    @Test func `a topic's push goes to every installation of every member but the one who is left out`() async throws {
        try await Registry.run { registry in
            let ada = try await registry.makeUser(tokens: "a1:1", "a2:1")
            let ben = try await registry.makeUser(tokens: "b1:1")
            let eve = try await registry.makeUser(tokens: "e1:1")
            _ = eve
            try await registry.makeTopic(owner: ada, members: [ben, UUID()])
            let request = NotificationRequested.topic(except: ben)
            try await registry.request(request)
            try await registry.fanOut()
            let expected = try [await registry.install("a1:1"), await registry.install("a2:1")].compactMap { $0?.id }
            let deliveries = try await DeliveryRepository(registry.client).find(notificationID: request.notificationID)
            #expect(Set(deliveries.map(\.installID)) == Set(expected))
            #expect(try await registry.notification(request)?.state == .addressed)
            let message = try #require(try await registry.takeOutbox().first)
            let event = try message.envelope.decode(NotificationAddressed.self)
            #expect(message.stream == "notification.addressed.bulk" && event.requestID == "r-1")
            #expect(Set(event.body.deliveryIDs) == Set(deliveries.map(\.id)))
        }
    }

    @Test func `ten thousand members are reached in bounded pages, each once, though many work at it`() async throws {
        try await Registry.run { registry in
            let owner = try await registry.makeUser()
            try await registry.makeTopic(owner: owner, members: [])
            try await registry.addCrowd(of: 10_000)
            let request = NotificationRequested.topic(except: owner)
            try await registry.request(request)
            let service = registry.fanOutService
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<3 { group.addTask { while try await service.makePage() {} } }
                try await group.waitForAll()
            }
            try await registry.fanOut()
            let deliveries = try await DeliveryRepository(registry.client).find(notificationID: request.notificationID)
            #expect(deliveries.count == 10_000 && Set(deliveries.map(\.installID)).count == 10_000)
            let events = try await registry.takeOutbox().map { try $0.envelope.decode(NotificationAddressed.self).body }
            #expect(events.allSatisfy { $0.deliveryIDs.count <= 500 })
            #expect(Set(events.flatMap(\.deliveryIDs)) == Set(deliveries.map(\.id)))
            #expect(try await registry.notification(request)?.state == .addressed)
        }
    }

    @Test func `a small topic does not wait for a big one`() async throws {
        try await Registry.run { registry in
            let owner = try await registry.makeUser(tokens: "o:1")
            try await registry.makeTopic(owner: owner, members: [])
            try await registry.addCrowd(of: 2_000)
            try await registry.makeTopic("event:small", owner: owner, members: [])
            let big = NotificationRequested.topic()
            let small = NotificationRequested.topic("event:small")
            try await registry.request(big, small)
            for _ in 0..<2 { #expect(try await registry.fanOutService.makePage()) }
            #expect(try await registry.notification(small)?.state == .addressed)
            #expect(try await registry.notification(big)?.state == .requested)
        }
    }

    @Test func `a topic without anybody to reach is skipped`() async throws {
        try await Registry.run { registry in
            let ada = try await registry.makeUser(tokens: "a:1")
            try await registry.makeTopic(owner: ada, members: [])
            let alone = NotificationRequested.topic(except: ada)
            let nowhere = NotificationRequested.topic("event:nowhere")
            let late = NotificationRequested.topic(expiresAt: Date(timeIntervalSinceNow: -1))
            try await registry.request(alone, nowhere, late)
            try await registry.fanOut()
            #expect(try await registry.notification(alone)?.skipReason == SkipReason.noInstallation.rawValue)
            #expect(try await registry.notification(nowhere)?.skipReason == SkipReason.topicEnded.rawValue)
            #expect(try await registry.notification(late)?.skipReason == SkipReason.expired.rawValue)
            #expect(try await registry.takeOutbox().isEmpty)
        }
    }

    @Test func `a notification whose pushes end before its last page is closed all the same`() async throws {
        try await Registry.run { registry in
            let owner = try await registry.makeUser()
            try await registry.makeTopic(owner: owner, members: [])
            try await registry.addCrowd(of: 500)
            // After the crowd in the order of ids, and without an installation.
            let last = UUID(uuidString: "ffffffff-ffff-4fff-bfff-ffffffffffff")!
            try await registry.client.execute("INSERT INTO topic_members (topic_id, user_id) SELECT id, \(last) FROM topics")
            try await registry.client.execute("DELETE FROM topic_members WHERE user_id = \(owner)")
            let request = NotificationRequested.topic()
            try await registry.request(request)
            #expect(try await registry.fanOutService.makePage())
            let repository = DeliveryRepository(registry.client)
            let deliveries = try await repository.find(notificationID: request.notificationID)
            try await repository.settle(deliveries.map { DeliverySettlement(id: $0.id, outcome: .accepted) })
            try await registry.settled(NotificationSettled(notificationID: request.notificationID, outcomes: []))
            #expect(try await registry.notification(request)?.state == .requested)
            try await registry.fanOut()
            #expect(try await registry.notification(request)?.state == .settled)
        }
    }
}

extension Registry {
    var fanOutService: TopicFanOutService { TopicFanOutService(postgres: client, logger: logger) }

    /// Makes every page there is.
    func fanOut() async throws { while try await fanOutService.makePage() {} }

    func makeTopic(_ text: String = "event:42", owner: UUID, members: [UUID]) async throws {
        let name = TopicName(text)!
        for member in [owner] + members {
            _ = try await client.withTransaction { try await TopicRepository($0).add(member, to: name, by: owner) }
        }
    }

    /// Puts members with one installation each into `event:42`.
    func addCrowd(of count: Int) async throws {
        try await client.execute(
            """
            WITH people AS (
                INSERT INTO users (email_lookup, email_sealed)
                SELECT sha256(n::text::bytea), '' FROM generate_series(1, \(count)) n RETURNING id
            ), joined AS (
                INSERT INTO topic_members (topic_id, user_id) SELECT t.id, p.id FROM topics t, people p WHERE t.name = 'event:42'
            )
            INSERT INTO push_installs (installation_key, kind, value_sealed, value_hash, user_id)
            SELECT sha256(id::text::bytea), 'token', '', sha256(id::text::bytea), id FROM people
            """)
    }
}

extension NotificationRequested {
    static func topic(
        _ text: String = "event:42", except: UUID? = nil, expiresAt: Date = Date(timeIntervalSinceNow: 3600)
    ) -> NotificationRequested {
        var parameters = ["event_id": "42"]
        parameters[NotificationParameter.exceptUserID] = except?.wireString
        return NotificationRequested(
            dedupeKey: UUID().uuidString, kind: .newPhotos, recipient: .topic(text), lane: .bulk, parameters: parameters,
            expiresAt: expiresAt)
    }
}
