import Accounts
import EventBus
import FoundationEssentials
import HeliographCrypto
import PostgresClient
import Push
import ServiceDefaults
import TestSupport
import Testing
import Topics
import WireFormat

@testable import TokenRegistry

struct TopicFanOutTests {
    @Test func `a topic's push goes to every installation of every member except the excluded one`() async throws {
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
            #expect(deliveries.allSatisfy { DeliveryPage.place(of: $0.id)?.pageID == event.body.pageID } && event.body.count == 2)
        }
    }

    @Test func `concurrent services reach thousands of members in bounded pages, each member once`() async throws {
        try await Registry.run { registry in
            let owner = try await registry.makeUser()
            try await registry.makeTopic(owner: owner, members: [])
            try await registry.addCrowd(of: 6_000)
            let request = NotificationRequested.topic(except: owner)
            try await registry.request(request)
            let service = registry.fanOutService()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<3 { group.addTask { while try await service.makePart(on: .bulk) {} } }
                try await group.waitForAll()
            }
            try await registry.fanOut()
            let deliveries = try await DeliveryRepository(registry.client).find(notificationID: request.notificationID)
            #expect(deliveries.count == 6_000 && Set(deliveries.map(\.installID)).count == 6_000)
            let events = try await registry.takeOutbox().map { try $0.envelope.decode(NotificationAddressed.self).body }
            #expect(events.allSatisfy { (1...500).contains($0.count) } && events.map(\.count).reduce(0, +) == 6_000)
            #expect(Set(events.map(\.pageID)).count == events.count)
            #expect(try await registry.notification(request)?.state == .addressed)
        }
    }

    @Test func `a small topic is addressed at once, and two big ones take turns`() async throws {
        try await Registry.run { registry in
            let owner = try await registry.makeUser(tokens: "o:1")
            try await registry.makeTopic(owner: owner, members: [])
            try await registry.addCrowd(of: 600)
            try await registry.makeTopic("event:small", owner: owner, members: [])
            let (first, second) = (NotificationRequested.topic(), NotificationRequested.topic())
            let small = NotificationRequested.topic("event:small")
            try await registry.request(first, second, small)
            #expect(try await registry.notification(small)?.state == .addressed)
            let service = registry.fanOutService { $0.partMembers = 100 }
            for _ in 0..<4 { #expect(try await service.makePart(on: .bulk)) }
            for request in [first, second] {
                let made = try await DeliveryRepository(registry.client).find(notificationID: request.notificationID)
                #expect((199...200).contains(made.count), "two parts each; one of them may have the owner, once")
            }
        }
    }

    @Test func `a lane does not wait for another lane's part`() async throws {
        try await Registry.run { registry in
            let owner = try await registry.makeUser()
            try await registry.makeTopic(owner: owner, members: [])
            try await registry.addCrowd(of: 600)
            let bulk = NotificationRequested.topic()
            let urgent = NotificationRequested.topic(lane: .urgent)
            try await registry.request(bulk, urgent)
            let isMade = try await registry.client.withTransaction { transaction in
                // It is idle while the other part is made.
                try await transaction.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
                // Another transaction holds the bulk lane's part.
                let held = try await TopicFanOutRepository(transaction).next(on: .bulk)
                let made = try await registry.fanOutService().makePart(on: .urgent)
                return held != nil && made
            }
            #expect(isMade)
            #expect(try await registry.notification(urgent)?.state == .addressed)
        }
    }

    @Test func `a topic without members, as an app may have one, is skipped with that reason`() async throws {
        try await Registry.run { registry in
            try await registry.makeTopic(owner: try await registry.makeUser(tokens: "a:1"), members: [])
            try await registry.client.execute("DELETE FROM topic_members")
            try await registry.client.execute("UPDATE topics SET member_count = 0")
            let request = NotificationRequested.topic()
            try await registry.request(request)
            #expect(try await registry.notification(request)?.skipReason == SkipReason.noRecipient.rawValue)
        }
    }

    @Test func `a topic without reachable members is skipped`() async throws {
        try await Registry.run { registry in
            let ada = try await registry.makeUser(tokens: "a:1")
            try await registry.makeTopic(owner: ada, members: [])
            let alone = NotificationRequested.topic(except: ada)
            let nowhere = NotificationRequested.topic("event:nowhere")
            let late = NotificationRequested.topic(expiresAt: Date(timeIntervalSinceNow: -1))
            try await registry.request(alone, nowhere, late)
            #expect(try await registry.notification(alone)?.skipReason == SkipReason.noInstallation.rawValue)
            #expect(try await registry.notification(nowhere)?.skipReason == SkipReason.topicEnded.rawValue)
            #expect(try await registry.notification(late)?.skipReason == SkipReason.expired.rawValue)
            #expect(try await registry.takeOutbox().isEmpty)
        }
    }

    @Test func `a fan-out stops when its topic ends, and does not continue with a new topic of the same name`() async throws {
        try await Registry.run { registry in
            let owner = try await registry.makeUser()
            try await registry.makeTopic(owner: owner, members: [])
            try await registry.addCrowd(of: 600)
            let topic = try #require(try await TopicRepository(registry.client).find(names: [TopicName("event:42")!]).first)
            let request = NotificationRequested.topic(topicID: topic.id)
            try await registry.request(request)
            let service = registry.fanOutService { $0.partMembers = 200 }
            #expect(try await service.makePart(on: .bulk))
            let made = try await DeliveryRepository(registry.client).find(notificationID: request.notificationID).count
            try await registry.client.execute("DELETE FROM topics WHERE id = \(topic.id)")
            let next = try await registry.makeUser(tokens: "next:1")
            try await registry.makeTopic(owner: next, members: [])
            while try await service.makePart(on: .bulk) {}
            #expect(try await DeliveryRepository(registry.client).find(notificationID: request.notificationID).count == made)
            #expect(try await registry.notification(request)?.state == .addressed)

            let late = NotificationRequested.topic(topicID: topic.id)
            try await registry.request(late)
            #expect(try await registry.notification(late)?.skipReason == SkipReason.topicEnded.rawValue)
        }
    }

    @Test func `a fan-out waits while it has too many open deliveries, and continues when they are sent`() async throws {
        try await Registry.run { registry in
            let owner = try await registry.makeUser()
            try await registry.makeTopic(owner: owner, members: [])
            try await registry.addCrowd(of: 900)
            let request = NotificationRequested.topic()
            try await registry.request(request)
            let service = registry.fanOutService {
                $0.partMembers = 200
                $0.maxOpenDeliveries = 300
                $0.backPressurePause = .zero
            }
            let deliveries = DeliveryRepository(registry.client)
            var open: [Int] = []
            while try await registry.notification(request)?.state == .requested {
                while try await service.makePart(on: .bulk) {}
                let waiting = try await deliveries.find(notificationID: request.notificationID).filter { $0.state == .pending }
                open.append(waiting.count)
                _ = try await deliveries.settle(waiting.map { DeliverySettlement(id: $0.id, outcome: .accepted) })
            }
            #expect(open.allSatisfy { $0 <= 500 } && open.reduce(0, +) == 900 && open.count >= 2)
        }
    }

    @Test func `a notification whose deliveries are settled before its last part is settled`() async throws {
        try await Registry.run { registry in
            let owner = try await registry.makeUser()
            try await registry.makeTopic(owner: owner, members: [])
            try await registry.addCrowd(of: 600)
            // After the crowd in the order of ids, and without an installation.
            let last = UUID(uuidString: "ffffffff-ffff-4fff-bfff-ffffffffffff")!
            try await registry.client.execute("INSERT INTO topic_members (topic_id, user_id) SELECT id, \(last) FROM topics")
            try await registry.client.execute("DELETE FROM topic_members WHERE user_id = \(owner)")
            let request = NotificationRequested.topic()
            try await registry.request(request)
            #expect(try await registry.fanOutService { $0.partMembers = 600 }.makePart(on: .bulk))
            let repository = DeliveryRepository(registry.client)
            let deliveries = try await repository.find(notificationID: request.notificationID)
            try await repository.settle(deliveries.map { DeliverySettlement(id: $0.id, outcome: .accepted) })
            try await registry.settled(NotificationSettled(notificationID: request.notificationID, outcomes: []))
            #expect(try await registry.notification(request)?.state == .requested)
            try await registry.fanOut()
            #expect(try await registry.notification(request)?.state == .settled)
        }
    }

    @Test func `a stale installation gets pushes of the normal lane, and none of the bulk lane`() async throws {
        try await Registry.run { registry in
            let owner = try await registry.makeUser(tokens: "new:1", "old:1")
            try await registry.makeTopic(owner: owner, members: [])
            let old = try #require(try await registry.install("old:1"))
            try await registry.client.execute("UPDATE push_installs SET state = 'stale' WHERE id = \(old.id)")
            let (bulk, normal) = (NotificationRequested.topic(), NotificationRequested.topic(lane: .normal))
            try await registry.request(bulk, normal)
            func installs(of request: NotificationRequested) async throws -> [UUID] {
                try await DeliveryRepository(registry.client).find(notificationID: request.notificationID).map(\.installID)
            }
            let (ofBulk, ofNormal) = (try await installs(of: bulk), try await installs(of: normal))
            #expect(ofBulk.count == 1 && !ofBulk.contains(old.id) && ofNormal.contains(old.id))
        }
    }

    @Test func `a big topic's installations get pushes by their states, as those of a small one`() async throws {
        try await Registry.run { registry in
            let owner = try await registry.makeUser(tokens: "stale:1", "waiting:1", "due:1", "dead:1")
            try await registry.makeTopic(owner: owner, members: [])
            try await registry.addCrowd(of: 600)
            for (token, change) in [
                ("stale:1", "state = 'stale'"), ("waiting:1", "state = 'suspect', suspect_until = now() + interval '1 hour'"),
                ("due:1", "state = 'suspect', suspect_until = now() - interval '1 second'"),
                ("dead:1", "state = 'invalid', invalid_at = now()"),
            ] {
                let id = try #require(try await registry.install(token)?.id)
                try await registry.client.execute("UPDATE push_installs SET \(unescaped: change) WHERE id = \(id)")
            }
            let (bulk, normal) = (NotificationRequested.topic(), NotificationRequested.topic(lane: .normal))
            try await registry.request(bulk, normal)
            try await registry.fanOut()
            for (request, tokens) in [(bulk, ["due:1"]), (normal, ["due:1", "stale:1"])] {
                let reached = try await DeliveryRepository(registry.client).find(notificationID: request.notificationID).map(\.installID)
                let own = Set(try await PushInstallRepository(registry.client).find(userIDs: [owner]).map(\.id))
                var expected: Set<UUID> = []
                for token in tokens { expected.insert(try #require(try await registry.install(token)?.id)) }
                #expect(own.intersection(reached) == expected && reached.count == 600 + expected.count)
            }
        }
    }

    @Test func `each page of a part has up to 500 installations, in the order of their users`() async throws {
        try await Registry.run { registry in
            let owner = try await registry.makeUser()
            try await registry.makeTopic(owner: owner, members: [])
            try await registry.addCrowd(of: 1_200)
            try await registry.request(NotificationRequested.topic())
            try await registry.fanOut()
            let rows = try await registry.client.query(
                """
                SELECT first_user_id, last_user_id, array_agg(i.user_id ORDER BY m.number) AS user_ids
                FROM delivery_pages p CROSS JOIN LATERAL unnest(install_ids) WITH ORDINALITY AS m (install_id, number)
                JOIN push_installs i ON i.id = m.install_id GROUP BY p.id ORDER BY first_user_id
                """)
            let pages = try rows.map { try $0.decode("user_ids", as: [UUID].self) }
            #expect(pages.map(\.count) == [500, 500, 200])
            #expect(pages.flatMap { $0 } == pages.flatMap { $0 }.sorted())
            for (row, users) in zip(rows, pages) {
                #expect(try row.decode("first_user_id", as: UUID.self) == users.first)
                #expect(try row.decode("last_user_id", as: UUID.self) == users.last)
            }
        }
    }

    @Test func `a fan-out ends although its last part has no members`() async throws {
        try await Registry.run { registry in
            let owner = try await registry.makeUser()
            try await registry.makeTopic(owner: owner, members: [])
            try await registry.addCrowd(of: 600)
            try await registry.client.execute("DELETE FROM topic_members WHERE user_id = \(owner)")
            let request = NotificationRequested.topic()
            try await registry.request(request)
            let service = registry.fanOutService { $0.partMembers = 300 }
            var parts = 0
            while try await service.makePart(on: .bulk) { parts += 1 }
            #expect(parts == 3)
            #expect(try await registry.notification(request)?.state == .addressed)
            #expect(try await DeliveryRepository(registry.client).find(notificationID: request.notificationID).count == 600)
        }
    }

    @Test func `a user who is erased during a fan-out gets no push of it`() async throws {
        try await Registry.run { registry in
            let owner = try await registry.makeUser(tokens: "o1:1", "o2:1")
            try await registry.makeTopic(owner: owner, members: [])
            try await registry.addCrowd(of: 1_000)
            let request = NotificationRequested.topic()
            try await registry.request(request)
            let service = registry.fanOutService { $0.partMembers = 50 }
            async let fanOut: Void = { while try await service.makePart(on: .bulk) {} }()
            try await registry.erase(owner)
            try await fanOut
            try await registry.erase(owner)
            #expect(try await PushInstallRepository(registry.client).find(userIDs: [owner]).isEmpty)
            let addressed = try await registry.takeOutbox().filter { $0.envelope.type == .notificationAddressed }
            var claimed: [ClaimedDelivery] = []
            for page in try addressed.map({ try $0.envelope.decode(NotificationAddressed.self).body.pageID }) {
                claimed += try await registry.client.withTransaction { transaction in
                    try await DeliveryRepository(transaction).claim(page: page, lease: .seconds(60))
                }
            }
            #expect(claimed.count { $0.target != nil } == 1_000)
        }
    }
}

extension Registry {
    func fanOutService(_ change: (inout TopicFanOutService.Configuration) -> Void = { _ in }) -> TopicFanOutService {
        var configuration = TopicFanOutService.Configuration()
        change(&configuration)
        return TopicFanOutService(postgres: service, configuration: configuration, logger: logger)
    }

    /// Makes every part there is.
    func fanOut() async throws { for lane in Lane.allCases { while try await fanOutService().makePart(on: lane) {} } }

    /// Erases the push data of a user, as the consumer does.
    func erase(_ userID: UUID) async throws {
        let erasure = try await client.beginErasure(of: userID)
        _ = try await PushEraser().erase(erasure, ErasureLedger(postgres: service, erasure: erasure, service: TokenRegistry.name))
    }

    func makeTopic(_ text: String = "event:42", owner: UUID, members: [UUID]) async throws {
        let name = TopicName(text)!
        for (member, actor) in [(owner, owner)] + members.flatMap({ [($0, owner), ($0, $0)] }) {
            _ = try await client.withTransaction { try await TopicRepository($0).add(member, to: name, by: actor) }
        }
    }

    /// Puts members with one installation each into `event:42`.
    func addCrowd(of count: Int) async throws {
        try await client.execute(
            """
            WITH people AS (
                INSERT INTO users (email_sealed)
                SELECT '' FROM generate_series(1, \(count)) n RETURNING id
            ), joined AS (
                INSERT INTO topic_members (topic_id, user_id) SELECT t.id, p.id FROM topics t, people p WHERE t.name = 'event:42'
            ), counted AS (
                UPDATE topics SET member_count = member_count + \(Int32(count)) WHERE name = 'event:42'
            )
            INSERT INTO push_installs (installation_key, kind, value_sealed, value_hash, user_id)
            SELECT sha256(id::text::bytea), 'token', '', sha256(id::text::bytea), id FROM people
            """)
    }
}

extension NotificationRequested {
    static func topic(
        _ text: String = "event:42", except: UUID? = nil, topicID: UUID? = nil, lane: Lane = .bulk,
        expiresAt: Date = Date(timeIntervalSinceNow: 3600)
    ) -> NotificationRequested {
        let push = CustomPush(app: SealedText(.appContent, bytes: [1]), topicID: topicID, hasPicture: false)
        return NotificationRequested(
            dedupeKey: UUID().uuidString, content: push.content, recipient: .topic(text), lane: lane, exceptUserID: except,
            expiresAt: expiresAt)
    }
}
