import Accounts
import EventBus
import FoundationEssentials
import PostgresClient
import Push
import TestSupport
import Testing
import WireFormat

@testable import TokenRegistry

struct AppNotificationRequestTests {
    @Test func `a list of users is addressed at once, and then forgotten`() async throws {
        try await Registry.run { registry in
            let ada = try await registry.makeUser(tokens: "a1:1", "a2:1")
            let ben = try await registry.makeUser(tokens: "b:1")
            _ = try await registry.makeUser(tokens: "other:1")
            let request = try await registry.list([ada, ben])
            try await registry.request(request)
            let deliveries = try await DeliveryRepository(registry.client).find(notificationID: request.notificationID)
            var expected: Set<UUID> = []
            for token in ["a1:1", "a2:1", "b:1"] { expected.insert(try #require(try await registry.install(token)?.id)) }
            #expect(Set(deliveries.map(\.installID)) == expected)
            #expect(try await registry.takeOutbox().count == 1, "one page")
            #expect(try await registry.notification(request)?.state == .addressed)
            #expect(try await registry.listSize(request) == 0)
            let counts = try await AppNotificationRepository(registry.client).counts(of: request.notificationID)
            #expect(counts.state == .addressed && counts.requested == 3 && counts.pending == 3)
        }
    }

    @Test func `a long list is fanned out in pages, and then forgotten`() async throws {
        try await Registry.run { registry in
            let ids = try await registry.crowd(of: 900)
            let request = try await registry.list(ids)
            try await registry.request(request)
            #expect(try await registry.notification(request)?.state == .requested)
            var configuration = TopicFanOutService.Configuration()
            configuration.partMembers = 400
            let service = TopicFanOutService(postgres: registry.service, configuration: configuration, logger: registry.logger)
            while try await service.makePart(on: .normal) {}
            let deliveries = try await DeliveryRepository(registry.client).find(notificationID: request.notificationID)
            #expect(deliveries.count == 900 && Set(deliveries.map(\.installID)).count == 900)
            #expect(try await registry.notification(request)?.state == .addressed)
            #expect(try await registry.listSize(request) == 0)
        }
    }

    @Test func `a list of users without phones is skipped`() async throws {
        try await Registry.run { registry in
            let request = try await registry.list([try await registry.makeUser()])
            try await registry.request(request)
            #expect(try await registry.notification(request)?.skipReason == "no_installation")
            #expect(try await registry.listSize(request) == 0)
            let counts = try await AppNotificationRepository(registry.client).counts(of: request.notificationID)
            #expect(counts.state == .skipped && counts.requested == 0 && counts.skipReason == "no_installation")
        }
    }

    @Test func `a list without a user who has an account is skipped with that reason`() async throws {
        try await Registry.run { registry in
            let request = try await registry.list([UUID()])
            try await registry.request(request)
            #expect(try await registry.notification(request)?.skipReason == "no_recipient")
        }
    }

    @Test func `an erased user is removed from lists that wait`() async throws {
        try await Registry.run { registry in
            let (ada, ben) = (try await registry.makeUser(tokens: "a:1"), try await registry.makeUser(tokens: "b:1"))
            let request = try await registry.list([ada, ben])
            try await registry.erase(ada)
            #expect(try await registry.listSize(request) == 1)
        }
    }

    @Test(arguments: [0, 600])
    func `a notification that reaches only people who block its sender has a reason of its own`(silent: Int) async throws {
        try await Registry.run { registry in
            let (ada, ben) = (try await registry.makeUser(tokens: "a:1"), try await registry.makeUser(tokens: "b:1"))
            try await registry.makeTopic("event:party", owner: ada, members: [ben])
            // Members without phones; with many of them it is a fan-out.
            try await registry.client.execute(
                """
                INSERT INTO topic_members (topic_id, user_id)
                SELECT id, gen_random_uuid() FROM topics, generate_series(1, \(silent)) WHERE name = 'event:party'
                """)
            try await registry.client.execute("UPDATE topics SET member_count = \(silent + 2)")
            try await registry.client.withTransaction { _ = try await PeopleListRepository(.blocks, $0).add(ada, for: ben) }
            var request = NotificationRequested.make(.topic("event:party"))
            request.content = .sample(.newPhotos, topicID: try await registry.topicID("event:party"), senderID: ada)
            request.exceptUserID = ada
            try await registry.request(request)
            let service = TopicFanOutService(postgres: registry.service, logger: registry.logger)
            while try await service.makePart(on: request.lane) {}
            #expect(try await registry.notification(request)?.skipReason == SkipReason.senderBlocked.rawValue)
        }
    }

    @Test func `a notification about what the user's only phone has done has a reason of its own`() async throws {
        try await Registry.run { registry in
            let ada = try await registry.makeUser(tokens: "a:1")
            var request = NotificationRequested.make(.user(ada))
            request.exceptInstallID = try #require(try await registry.install("a:1")).id
            try await registry.request(request)
            #expect(try await registry.notification(request)?.skipReason == SkipReason.ownDevice.rawValue)
        }
    }

    @Test(arguments: [3, 700])
    func `members who block the sender get no push`(memberCount: Int) async throws {
        try await Registry.run { registry in
            let (ada, ben, eve) = (
                try await registry.makeUser(tokens: "a:1"), try await registry.makeUser(tokens: "b:1"),
                try await registry.makeUser(tokens: "e:1")
            )
            let crowd = try await registry.crowd(of: memberCount - 3)
            let rows = try await registry.client.query(
                "INSERT INTO topics (name, owner_id, member_count) VALUES ('event:party', \(ada), \(memberCount)) RETURNING id")
            let topicID: UUID = try rows[0].decode("id")
            try await registry.client.execute(
                "INSERT INTO topic_members (topic_id, user_id) SELECT \(topicID), id FROM unnest(\(crowd + [ada, ben, eve])) AS m (id)")
            try await registry.client.withTransaction { _ = try await PeopleListRepository(.blocks, $0).add(ada, for: ben) }
            let request = NotificationRequested(
                dedupeKey: "photos:1", content: .sample(.newPhotos, topicID: topicID, senderID: ada), recipient: .topic("event:party"),
                lane: .normal, exceptUserID: ada, expiresAt: Date(timeIntervalSinceNow: 3_600))
            try await registry.request(request)
            let service = TopicFanOutService(postgres: registry.service, logger: registry.logger)
            while try await service.makePart(on: .normal) {}
            let deliveries = try await DeliveryRepository(registry.client).find(notificationID: request.notificationID)
            #expect(deliveries.count == memberCount - 2)
            let addressed = Set(deliveries.map(\.installID))
            #expect(!addressed.contains(try #require(try await registry.install("b:1")?.id)))
            #expect(addressed.contains(try #require(try await registry.install("e:1")?.id)))
        }
    }
}

extension Registry {
    /// Stores an app's notification for users, and returns its request.
    fileprivate func list(_ userIDs: [UUID]) async throws -> NotificationRequested {
        let id = UUIDv7.generate()
        let expiresAt = Date(timeIntervalSinceNow: 3_600)
        _ = try await AppNotificationRepository(client).insert(
            NewAppNotification(
                id: id, app: "photoshare", credentialID: UUID(), kind: "news", dedupeKey: nil,
                fingerprint: [UInt8](repeating: 1, count: 32), userIDs: userIDs, scheduledRequest: nil, requestID: nil,
                traceparent: nil, notBefore: Date(), expiresAt: expiresAt))
        return CustomPush(app: SealedText(.appContent, bytes: [1]), topicID: nil, hasPicture: false)
            .request(id, to: .list(id), lane: .normal, expiresAt: expiresAt)
    }

    fileprivate func listSize(_ request: NotificationRequested) async throws -> Int {
        try await client.query(
            "SELECT cardinality(user_ids)::bigint AS n FROM app_notifications WHERE id = \(request.notificationID)")[0].decode("n")
    }

    /// Makes users with an installation each, and returns their ids.
    fileprivate func crowd(of count: Int) async throws -> [UUID] {
        try await client.query(
            """
            WITH made AS (
                INSERT INTO users (email_sealed)
                SELECT '' FROM generate_series(1, \(count)) n RETURNING id
            ), installed AS (
                INSERT INTO push_installs (installation_key, kind, value_sealed, value_hash, user_id)
                SELECT sha256(id::text::bytea), 'token', '', sha256(id::text::bytea), id FROM made
            )
            SELECT id FROM made
            """
        ).column("id")
    }
}
