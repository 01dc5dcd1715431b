import FoundationEssentials
import PostgresClient
import Storage
import TestSupport
import Testing
import WireFormat

struct DeliveryRepositoryTests {
    /// A notification for `recipient` and one delivery of it to the installation `seed`.
    private func address(
        _ recipient: NotificationRecipient = .session(UUID()), to seed: Int = 1, on client: PostgresClient
    ) async throws -> (delivery: UUID, install: PushInstall) {
        let install = try await PushInstallRepository(client).registerUnbound(.make(seed))
        let notification = NewNotification.make(recipient: recipient)
        _ = try await NotificationRepository(client).insert(notification)
        let page = NewDeliveryPage.pages(of: notification.id, on: .urgent, to: [install.address])[0]
        try await DeliveryPageRepository(client).insert([page])
        return (page.deliveryIDs[0], install)
    }

    @Test func `a claimed delivery has all data needed to send it`() async throws {
        try await withStorage { client in
            let (id, install) = try await address(on: client)
            let before = Date()
            let claimed = try #require(
                try await DeliveryRepository(client).claim([id], lease: .seconds(60)).first)
            #expect(claimed.id == id && claimed.installID == install.id && claimed.attempt == 1)
            let notification = claimed.notification
            #expect(notification.kind == .signIn && notification.lane == .urgent && notification.recipient.type == .session)
            #expect(claimed.notification.parameters["name"] == "Jörg \"J\" O'Neil")
            #expect(claimed.target?.valueSealed == install.valueSealed)
            #expect(claimed.target?.installationKey == install.installationKey)
            #expect(claimed.target?.kind == .token)
            #expect(claimed.leaseUntil > before.addingTimeInterval(59))
        }
    }

    @Test func `a waiting push is sent to the current token of its user's phone, and not to another user's`() async throws {
        try await withStorage { client in
            let (installs, deliveries) = (PushInstallRepository(client), DeliveryRepository(client))
            let (ada, ben) = (try await UserRepository(client).make(1).id, try await UserRepository(client).make(2).id)
            let (id, install) = try await address(.user(ada), on: client)
            _ = try await installs.bind(install.id, userID: ada, seenAt: install.registeredAt)
            let renewed = try await client.withTransaction { transaction in
                try await PushInstallRepository(transaction).register(
                    .make(1, value: 2, seenAt: Date(timeIntervalSinceNow: 5)), userID: ada)
            }
            #expect(renewed.install.generation == 2)
            let claimed = try #require(try await deliveries.claim([id], lease: .zero).first)
            #expect(claimed.target?.valueSealed == [2] && claimed.generation == 2)
            _ = try await client.withTransaction { transaction in
                try await PushInstallRepository(transaction).register(
                    .make(1, value: 2, seenAt: Date(timeIntervalSinceNow: 6)), userID: ben)
            }
            let due = try #require(try await deliveries.claimDue(lane: .urgent, limit: 500, lease: .seconds(60)).first)
            #expect(due.id == id && due.target == nil && due.suppression == .noInstallation)
        }
    }

    @Test func `a user who has left a topic gets no waiting pushes`() async throws {
        try await withStorage { client in
            let ada = try await UserRepository(client).make(1).id
            try await client.execute("INSERT INTO topics (name, owner_id) VALUES ('event:7', \(ada))")
            try await client.execute("INSERT INTO topic_members (topic_id, user_id) SELECT id, \(ada) FROM topics")
            let (id, install) = try await address(.topic("event:7"), on: client)
            _ = try await PushInstallRepository(client).bind(install.id, userID: ada, seenAt: install.registeredAt)
            try await client.execute("UPDATE delivery_pages SET created_at = now() - interval '20 seconds'")
            let deliveries = DeliveryRepository(client)
            #expect(try await deliveries.claim([id], lease: .zero).first?.suppression == nil)
            try await client.execute("DELETE FROM topic_members")
            let due = try #require(try await deliveries.claimDue(lane: .urgent, limit: 500, lease: .seconds(60)).first)
            #expect(due.id == id && due.suppression == .notAMember)
        }
    }

    @Test func `a withdrawn invitation is not pushed`() async throws {
        try await withTopics { topics, users in
            let (client, deliveries) = (topics.client, DeliveryRepository(topics.client))
            for user in users[0...1] { _ = try await topics.add(user, by: users[0]) }
            let (id, install) = try await address(.user(users[1]), on: client)
            _ = try await PushInstallRepository(client).bind(install.id, userID: users[1], seenAt: install.registeredAt)
            try await client.execute(
                """
                UPDATE notifications SET kind = 'invitation',
                    parameters = jsonb_build_object('topic', 'event:party', 'topic_id', (SELECT id FROM topics))
                """)
            #expect(try await deliveries.claim([id], lease: .zero).first?.target != nil)
            _ = try await topics.remove(users[1], by: users[0])
            let due = try #require(try await deliveries.claimDue(lane: .urgent, limit: 500, lease: .seconds(60)).first)
            #expect(due.id == id && due.target == nil && due.suppression == .notInvited)
        }
    }

    @Test func `one of several concurrent senders claims a batch, and another can after the lease`() async throws {
        try await withStorage { client in
            let deliveries = DeliveryRepository(client)
            let id = try await address(on: client).delivery
            let claims = try await race(12) { _ in try await deliveries.claim([id]).count }
            #expect(claims.reduce(0, +) == 1)
            #expect(try await deliveries.claimDue(lane: .urgent, limit: 10, lease: .seconds(60)).isEmpty)
            for attempt in 2...3 {
                try await client.execute("UPDATE delivery_pages SET due_at = now() - interval '1 second'")
                let again = try await race(12) { _ in
                    try await deliveries.claimDue(lane: .urgent, limit: 10, lease: .seconds(60))
                }.flatMap { $0 }
                #expect(again.map(\.attempt) == [attempt])
            }
        }
    }

    @Test func `a claimed delivery is due when the lease ends, a settled one never`() async throws {
        try await withStorage { client in
            let deliveries = DeliveryRepository(client)
            let id = try await address(on: client).delivery
            let begin = ContinuousClock.now
            _ = try await deliveries.claim([id], lease: .seconds(60))
            let wait = try #require(try await deliveries.timeUntilDue(lanes: [.urgent]))
            #expect(wait > .seconds(59) - (.now - begin) && wait <= .seconds(60))
            try await deliveries.settle([DeliverySettlement(id: id, outcome: .accepted)])
            #expect(try await deliveries.timeUntilDue(lanes: [.urgent]) == nil)
        }
    }

    @Test func `a claimed delivery is neither withdrawn nor superseded nor expired`() async throws {
        try await withStorage { client in
            let deliveries = DeliveryRepository(client)
            let (id, install) = try await address(on: client)
            _ = try await deliveries.claim([id], lease: .seconds(60))
            let notificationID = try #require(try await deliveries.find(ids: [id]).first).notificationID
            try await client.execute("DELETE FROM push_installs")
            #expect(try await deliveries.withdraw(installIDs: [install.id], code: "gone").isEmpty)
            #expect(try await deliveries.withdraw(notificationIDs: [notificationID], code: "gone") == 0)
            #expect(try await deliveries.expireOpen(notificationIDs: [notificationID], code: "late") == 0)
            try await client.execute("UPDATE delivery_pages SET due_at = now() - interval '1 second'")
            #expect(try await deliveries.expireOpen(notificationIDs: [notificationID], code: "late") == 1)
        }
    }

    @Test func `the first settlement is final, even against a later claim`() async throws {
        try await withStorage { client in
            let deliveries = DeliveryRepository(client)
            let id = try await address(on: client).delivery
            _ = try await deliveries.claim([id], lease: .seconds(60))
            let outcomes = DeliveryOutcome.allCases
            let ended = try await race(outcomes.count) { index in
                try await deliveries.settle([
                    DeliverySettlement(id: id, outcome: outcomes[index], fcmName: "n", code: outcomes[index].rawValue)
                ]).count
            }
            #expect(ended.reduce(0, +) == 1)
            let delivery = try #require(try await deliveries.find(ids: [id]).first)
            #expect(delivery.state.isTerminal && delivery.settledAt != nil && delivery.dueAt == nil)
            if delivery.state == .accepted {
                #expect(delivery.fcmName == "n")
            } else {
                #expect(delivery.code == delivery.state.rawValue)
            }
            #expect(try await deliveries.claim([id], lease: .seconds(60)).isEmpty)
            #expect(try await deliveries.claimDue(lane: .urgent, limit: 1, lease: .seconds(60)).isEmpty)
        }
    }

    @Test func `a deferred delivery becomes due after its delay`() async throws {
        try await withStorage { client in
            let deliveries = DeliveryRepository(client)
            let id = try await address(on: client).delivery
            _ = try await deliveries.claim([id], lease: .seconds(60))
            let begin = ContinuousClock.now
            let deferral = DeliveryDeferral(id: id, attempt: 1, delay: .seconds(30), code: "UNAVAILABLE")
            #expect(try await deliveries.deferDeliveries([deferral]) == [id])
            #expect(try await deliveries.claim([id], lease: .seconds(60)).isEmpty)
            #expect(try await deliveries.claimDue(lane: .urgent, limit: 10, lease: .seconds(60)).isEmpty)
            let wait = try #require(try await deliveries.timeUntilDue(lanes: Lane.allCases))
            #expect(wait > .seconds(29) - (.now - begin) && wait <= .seconds(30))
            #expect(try await deliveries.find(ids: [id]).first?.code == "UNAVAILABLE")
            try await client.execute("UPDATE deliveries SET due_at = now()")
            #expect(try await deliveries.claimDue(lane: .urgent, limit: 10, lease: .seconds(60)).map(\.attempt) == [2])
        }
    }

    @Test func `deferring an unsent delivery does not count an attempt`() async throws {
        try await withStorage { client in
            let deliveries = DeliveryRepository(client)
            let id = try await address(on: client).delivery
            _ = try await deliveries.claim([id], lease: .seconds(60))
            try await deliveries.deferDeliveries([
                DeliveryDeferral(id: id, attempt: 1, delay: .zero, code: "lane_paused", countsAsAttempt: false)
            ])
            #expect(try await deliveries.claimDue(lane: .urgent, limit: 10, lease: .seconds(60)).map(\.attempt) == [1])
        }
    }

    @Test func `mayHaveArrived is kept until the delivery is settled, and is not set by a refusal`() async throws {
        try await withStorage { client in
            let deliveries = DeliveryRepository(client)
            let (refused, lost) = (try await address(on: client).delivery, try await address(to: 2, on: client).delivery)
            #expect(try await deliveries.claim([refused, lost], lease: .seconds(60)).allSatisfy { !$0.mayHaveArrived })
            for attempt in 1...2 {
                // The first attempt may have arrived; the second is definitely refused.
                let deferrals = [refused, lost].map {
                    DeliveryDeferral(
                        id: $0, attempt: attempt, delay: .zero, code: "any", mayHaveArrived: $0 == lost && attempt == 1)
                }
                try await deliveries.deferDeliveries(deferrals)
                let due = try await deliveries.claimDue(lane: .urgent, limit: 10, lease: .seconds(60))
                #expect(due.count == 2 && due.allSatisfy { $0.mayHaveArrived == ($0.id == lost) })
            }
        }
    }

    @Test func `the deliveries of a crashed sender may have reached the phone`() async throws {
        try await withStorage { client in
            let deliveries = DeliveryRepository(client)
            let id = try await address(on: client).delivery
            _ = try await deliveries.claim([id], lease: .zero)
            let second = try #require(try await deliveries.claimDue(lane: .urgent, limit: 10, lease: .seconds(60)).first)
            #expect(second.mayHaveArrived && second.attempt == 2)
            let put = DeliveryDeferral(id: id, attempt: 2, delay: .zero, code: "lane_paused", countsAsAttempt: false)
            try await deliveries.deferDeliveries([put])
            // The second sender crashes too, with the deliveries at their second attempt.
            #expect(try await deliveries.claimDue(lane: .urgent, limit: 10, lease: .zero).count == 1)
            #expect(try await deliveries.claimDue(lane: .urgent, limit: 10, lease: .zero).first?.mayHaveArrived == true)
        }
    }

    @Test func `a sender that lost its lease cannot defer a delivery that another holds`() async throws {
        try await withStorage { client in
            let deliveries = DeliveryRepository(client)
            let id = try await address(on: client).delivery
            _ = try await deliveries.claim([id], lease: .zero)
            #expect(try await deliveries.claimDue(lane: .urgent, limit: 10, lease: .seconds(60)).map(\.attempt) == [2])
            let late = DeliveryDeferral(id: id, attempt: 1, delay: .zero, code: "timeout")
            #expect(try await deliveries.deferDeliveries([late]).isEmpty)
            #expect(try await deliveries.claimDue(lane: .urgent, limit: 10, lease: .seconds(60)).isEmpty)
        }
    }

    @Test func `deliveries that were never attempted are not due, and one of many senders claims due ones`() async throws {
        try await withStorage { client in
            let deliveries = DeliveryRepository(client)
            _ = try await address(to: 1, on: client)
            var tried: Set<UUID> = []
            for seed in 2..<22 { tried.insert(try await address(to: seed, on: client).delivery) }
            _ = try await deliveries.claim(Array(tried), lease: .zero)
            let claims = try await race(12) { _ in
                try await deliveries.claimDue(lane: .urgent, limit: 4, lease: .seconds(60)).map(\.id)
            }.flatMap { $0 }
            #expect(claims.count == Set(claims).count && tried.isSuperset(of: claims))
            var rest: [UUID] = []
            while case let more = try await deliveries.claimDue(lane: .urgent, limit: 100, lease: .seconds(60)), !more.isEmpty {
                rest += more.map(\.id)
            }
            #expect(Set(claims + rest) == tried && claims.count + rest.count == tried.count)
        }
    }

    @Test func `a push for a user has no target once the installation belongs to another user, but a push for a session has`()
        async throws
    {
        try await withStorage { client in
            let first = try await UserRepository(client).make(1).id
            let second = try await UserRepository(client).make(2).id
            _ = try await client.register(.make(1), first)
            let forUser = try await address(.user(first), on: client).delivery
            let forSession = try await address(.session(UUID()), on: client).delivery
            _ = try await client.register(.make(1), second)
            let claimed = try await DeliveryRepository(client).claim([forUser, forSession], lease: .seconds(60))
            #expect(claimed.count == 2)
            #expect(claimed.first { $0.id == forUser }?.target == nil)
            #expect(claimed.first { $0.id == forSession }?.target != nil)
            let generation = claimed.first { $0.id == forSession }?.generation
            #expect(generation == 2, "the generation that an answer about a dead token is compared with")
            let end = DeliverySettlement(id: forSession, outcome: .dead, attempt: 1, generation: generation)
            try await DeliveryRepository(client).settle([end])
            #expect(try await DeliveryRepository(client).find(ids: [forSession]).map(\.generation) == [2])
        }
    }

    @Test func `a dead or deleted installation is no target`() async throws {
        try await withStorage { client in
            let (dead, install) = try await address(to: 1, on: client)
            let (gone, _) = try await address(to: 2, on: client)
            let installs = PushInstallRepository(client)
            try await installs.markDead([DeadInstall(id: install.id, generation: 1, code: "UNREGISTERED")])
            try await client.execute("DELETE FROM push_installs WHERE installation_key = \(hash(2))")
            let claimed = try await DeliveryRepository(client).claim([dead, gone], lease: .seconds(60))
            #expect(claimed.map(\.target) == [nil, nil])
        }
    }
}
