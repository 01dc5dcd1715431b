import FoundationEssentials
import PostgresClient
import Storage
import TestSupport
import Testing
import WireFormat

struct DeliveryPageTests {
    @Test func `a claimed page carries all that is needed to send its pushes`() async throws {
        try await withPage(of: 3) { page in
            let before = Date()
            let claimed = try await page.claim()
            #expect(claimed.count == 3 && Set(claimed.map(\.id)).count == 3 && claimed.allSatisfy { $0.attempt == 1 })
            #expect(Set(claimed.map(\.installID)) == Set(page.installs.map(\.id)))
            for delivery in claimed {
                let install = try #require(page.installs.first { $0.id == delivery.installID })
                #expect(delivery.target?.installationKey == install.installationKey && delivery.target?.userID == install.userID)
                #expect(delivery.target?.valueSealed == install.valueSealed && delivery.generation == install.generation)
                #expect(delivery.notification === claimed[0].notification && delivery.notification.kind == .newPhotos)
                #expect(delivery.leaseUntil > before.addingTimeInterval(59))
            }
        }
    }

    @Test func `a page's push goes to the token that its user's phone has meanwhile`() async throws {
        try await withPage(of: 2) { page in
            let install = page.installs[0]
            try await page.client.execute(
                "UPDATE push_installs SET generation = generation + 1, value_sealed = 'new' WHERE id = \(install.id)")
            try await page.client.execute(
                """
                UPDATE push_installs SET generation = generation + 1, bound_generation = generation + 1
                WHERE id = \(page.installs[1].id)
                """)
            let claimed = Dictionary(uniqueKeysWithValues: try await page.claim().map { ($0.installID, $0) })
            #expect(claimed[install.id]?.target?.valueSealed == Array("new".utf8))
            #expect(claimed[install.id]?.generation == install.generation + 1)
            let passedOn = claimed[page.installs[1].id]
            #expect(passedOn?.skipCode == "no_installation")
            #expect(passedOn?.generation == 1, "in the ledger it must not stand in the way of the next user's")
        }
    }

    @Test func `of concurrent senders one gets a page, and another when its lease has ended`() async throws {
        try await withPage(of: 2) { page in
            #expect(try await race(8) { _ in try await page.claim().count }.reduce(0, +) == 2)
            #expect(try await page.claimDue().isEmpty)
            for attempt in 2...3 {
                try await page.end("due_at = now() - interval '1 second'")
                let again = try await race(8) { _ in try await page.claimDue() }.flatMap { $0 }
                #expect(again.map(\.attempt) == [attempt, attempt])
            }
        }
    }

    @Test func `a page that no event brings to a sender is due after a while`() async throws {
        try await withPage(of: 2) { page in
            #expect(try await page.claimDue().isEmpty)
            try await page.end("due_at = due_at - make_interval(secs => \(DeliveryPageRepository.eventAge / .seconds(1)))")
            #expect(try await page.claimDue().count == 2)
            #expect(try await page.claim().isEmpty)
        }
    }

    @Test func `a page that is put off is due as a page, and its event comes too late`() async throws {
        try await withPage(of: 2) { page in
            let begin = ContinuousClock.now
            try await DeliveryPageRepository(page.client).putOff(page.id, for: .seconds(30), code: "lane_paused")
            #expect(try await page.claim().isEmpty)
            let wait = try #require(try await page.deliveries.timeUntilDue(lanes: [.bulk]))
            #expect(wait > .seconds(29) - (.now - begin) && wait < .seconds(31))
            try await page.end("due_at = now()")
            #expect(try await page.claimDue().map(\.attempt) == [1, 1])
        }
    }

    @Test func `what is accepted ends once, and the page with its last`() async throws {
        try await withPage(of: 3) { page in
            let ids = try await page.claim().map(\.id)
            let first = DeliverySettlement(id: ids[0], outcome: .accepted, fcmName: "projects/p/messages/1", attempt: 1)
            #expect(try await page.settle([first]) == [ids[0]])
            #expect(try await page.settle([first]).isEmpty)
            #expect(try await page.open() == 2)
            let found = try #require(try await page.deliveries.find(ids: [ids[0]]).first)
            #expect(found.state == .accepted && found.fcmName == "projects/p/messages/1" && found.settledAt != nil)
            try await page.end("due_at = now() - interval '1 second'")
            #expect(Set(try await page.claimDue().map(\.id)) == Set(ids.dropFirst()), "those that have ended are not sent again")
            #expect(try await page.settle(ids.dropFirst().map { DeliverySettlement(id: $0, outcome: .accepted) }).count == 2)
            #expect(try await page.open() == 0)
            #expect(try await page.deliveries.timeUntilDue(lanes: [.bulk]) == nil)
        }
    }

    @Test func `what is refused has a row of its own`() async throws {
        try await withPage(of: 3) { page in
            let ids = try await page.claim().map(\.id)
            let dead = DeliverySettlement(id: ids[1], outcome: .dead, code: "UNREGISTERED", attempt: 1, generation: 1)
            for _ in 0..<2 { _ = try await page.settle([dead]) }
            #expect(try await page.open() == 2)
            let all = try await page.deliveries.find(notificationID: page.notificationID)
            #expect(all.count == 3 && all.filter { $0.state == .dead }.map(\.id) == [ids[1]])
            #expect(all.first { $0.id == ids[1] }?.code == "UNREGISTERED")
        }
    }

    @Test func `what is put off has a row of its own, and is sent again from there`() async throws {
        try await withPage(of: 3) { page in
            let claimed = try await page.claim()
            try await page.postpone(claimed[2], attempt: 1)
            #expect(try await page.open() == 3)
            #expect(try await page.claimDue().map(\.id) == [claimed[2].id])
            #expect(try await page.settle([DeliverySettlement(id: claimed[2].id, outcome: .accepted, attempt: 2)]).count == 1)
            #expect(try await page.deliveries.find(ids: [claimed[2].id]).map(\.attempt) == [2])
            #expect(try await page.open() == 2)
        }
    }

    @Test func `a sender that was taken for dead puts nothing off, and what it sent counts`() async throws {
        try await withPage(of: 2) { page in
            let ids = try await page.claim().map(\.id)
            try await page.end("due_at = now() - interval '1 second'")
            let again = try await page.claimDue()
            try await page.postpone(again[0], attempt: 1)
            #expect(try await page.claimDue().isEmpty)
            #expect(try await page.settle(ids.map { DeliverySettlement(id: $0, outcome: .accepted, attempt: 1) }).count == 2)
            #expect(try await page.open() == 0)
        }
    }

    @Test func `an end that comes after its push was put off is the end`() async throws {
        try await withPage(of: 2) { page in
            let claimed = try await page.claim()
            try await page.postpone(claimed[0], attempt: 1)
            #expect(try await page.settle([DeliverySettlement(id: claimed[0].id, outcome: .accepted)]) == [claimed[0].id])
            #expect(try await page.claimDue().isEmpty)
        }
    }

    @Test func `an installation that passes on within a fan-out does not lose the push to its new user`() async throws {
        try await withPage(of: 2) { page in
            let claimed = try await page.claim()
            let installID = claimed[0].installID
            _ = try await page.settle([DeliverySettlement(id: claimed[0].id, outcome: .skipped, code: "no_installation")])
            try await page.client.execute("UPDATE push_installs SET generation = generation + 1 WHERE id = \(installID)")
            let second = try await page.insert(userIDs: [try #require(claimed[0].target?.userID)])
            let again = try await page.claim(second)
            #expect(again.map(\.installID) == [installID] && again[0].target != nil)
            try await page.postpone(again[0], attempt: 1)
            #expect(try await page.claimDue().map(\.id) == [again[0].id])
        }
    }

    @Test func `an installation that passes on while its first push waits gets the second, and both are counted`() async throws {
        try await withPage(of: 2) { page in
            let claimed = try await page.claim()
            try await page.postpone(claimed[0], attempt: 1)
            try await page.client.execute(
                "UPDATE push_installs SET generation = generation + 1 WHERE id = \(claimed[0].installID)")
            let second = try await page.insert(userIDs: [try #require(claimed[0].target?.userID)])
            try await page.client.execute("UPDATE notifications SET delivery_count = delivery_count + 1")
            try await page.postpone(try #require(try await page.claim(second).first), attempt: 1)
            #expect(try await page.open() == 2, "the first is ended, its second and the other's are under way")
            let again = try await page.claimDue()
            #expect(again.map(\.installID) == [claimed[0].installID] && again[0].target != nil)
        }
    }

    @Test func `what is told twice of one name is kept once`() async throws {
        try await withPage(of: 2) { page in
            let ids = try await page.claim().map(\.id)
            let told = ids.map { DeliverySettlement(id: $0, outcome: .accepted, fcmName: "projects/p/messages/\($0)") }
            #expect(try await page.settle([told[0]]).count == 1)
            #expect(try await page.settle(told) == [ids[1]])
            #expect(try await page.deliveries.find(notificationID: page.notificationID).count == 2)
        }
    }

    @Test func `pushes that wait on a page are taken back with their notification`() async throws {
        try await withPage(of: 3) { page in
            let taken = try await page.deliveries.withdraw(notificationIDs: [page.notificationID], code: "user_erased")
            #expect(taken == 3)
            #expect(try await page.open() == 0)
            #expect(try await page.claim().isEmpty)
        }
    }

    @Test func `what expires on a page is ended, but for what a sender has`() async throws {
        try await withPage(of: 3) { page in
            _ = try await page.claim()
            #expect(try await page.deliveries.expireOpen(notificationIDs: [page.notificationID], code: "NEVER_SENT") == 0)
            try await page.end("due_at = now() - interval '1 second'")
            #expect(try await page.deliveries.expireOpen(notificationIDs: [page.notificationID], code: "NEVER_SENT") == 3)
            #expect(try await page.open() == 0)
        }
    }

    @Test func `a newer push takes the place of those that wait on a page, and the others are sent`() async throws {
        try await withPage(of: 3) { page in
            try await page.end("created_at = now() - interval '60 seconds'")
            let newer = try await page.notify()
            let ended = try await page.client.withTransaction { transaction in
                try await DeliveryRepository(transaction).supersede(
                    by: [newer: Array(page.installs.map(\.id).prefix(2))], code: "superseded")
            }
            #expect(ended == [page.notificationID])
            #expect(try await page.open() == 1)
            #expect(try await page.claimDue().map(\.installID) == [page.installs[2].id])
        }
    }

    @Test func `a device is believed what it tells of a push on a page, and a stranger's is not`() async throws {
        try await withPage(of: 3) { page in
            let receipts = ReceiptRepository(page.client)
            let mine = page.installs[1]
            let receipt = Receipt(subject: .notification(page.notificationID), event: .opened, at: Date())
            let userID = try #require(mine.userID)
            #expect(try await receipts.record([receipt], userID: userID, installationKey: mine.installationKey).count == 1)
            let stranger = try await UserRepository(page.client).make(99).id
            #expect(try await receipts.record([receipt], userID: stranger, installationKey: mine.installationKey).isEmpty)
        }
    }

    @Test func `figures count what is on pages`() async throws {
        try await withPage(of: 3) { page in
            let ids = try await page.claim().map(\.id)
            _ = try await page.settle([
                DeliverySettlement(id: ids[0], outcome: .accepted), DeliverySettlement(id: ids[1], outcome: .accepted),
                DeliverySettlement(id: ids[2], outcome: .dead),
            ])
            let figures = try await ReceiptRepository(page.client).figures(since: Date(timeIntervalSinceNow: -600))
            #expect(figures.map(\.accepted) == [2] && figures.map(\.dead) == [1])
        }
    }

    @Test func `pages go with age, and their notification after them`() async throws {
        try await withPage(of: 2) { page in
            let notifications = NotificationRepository(page.client)
            try await page.client.execute("UPDATE notifications SET created_at = now() - interval '2 days'")
            #expect(try await notifications.deleteOlder(than: .seconds(86_400), limit: 10) == 0)
            #expect(try await DeliveryPageRepository(page.client).deleteOlder(than: .seconds(86_400), limit: 10) == 1)
            #expect(try await notifications.deleteOlder(than: .seconds(86_400), limit: 10) == 1)
        }
    }
}

/// A notification to a topic with a page of deliveries, to one installation each of some users.
private struct TestPage: Sendable {
    let client: PostgresClient
    let notificationID: UUID
    let installs: [PushInstall]
    let id: UUID

    var deliveries: DeliveryRepository { DeliveryRepository(client) }

    func claim(_ page: UUID? = nil) async throws -> [ClaimedDelivery] {
        try await client.withTransaction { transaction in
            try await DeliveryPageRepository(transaction).claim(page ?? id, lease: .seconds(60))
        }
    }

    func claimDue() async throws -> [ClaimedDelivery] {
        try await client.withTransaction { transaction in
            try await DeliveryRepository(transaction).claimDue(lane: .bulk, limit: 500, lease: .seconds(60))
        }
    }

    func settle(_ batch: [DeliverySettlement]) async throws -> Set<UUID> {
        try await client.withTransaction { try await DeliveryRepository($0).settle(batch) }
    }

    /// Puts a delivery off for no time at all.
    func postpone(_ delivery: ClaimedDelivery, attempt: Int) async throws {
        let postponement = DeliveryPostponement(id: delivery.id, attempt: attempt, delay: .zero, code: "UNAVAILABLE")
        _ = try await client.withTransaction { try await DeliveryRepository($0).postpone([postponement]) }
    }

    /// Changes the page behind everybody's back.
    func end(_ change: String) async throws {
        let query: PostgresQuery = "UPDATE delivery_pages SET \(unescaped: change) WHERE id = \(id)"
        try await client.execute(query)
        if change.hasPrefix("created_at") {
            let older: PostgresQuery = "UPDATE notifications SET \(unescaped: change)"
            try await client.execute(older)
        }
    }

    func open() async throws -> Int {
        let query: PostgresQuery =
            "SELECT delivery_count - ended_deliveries AS open FROM notifications WHERE id = \(notificationID)"
        return Int(try #require(try await client.query(query).first).decode("open", as: Int32.self))
    }

    func notify() async throws -> UUID {
        var notification = NewNotification.make(recipient: .topic("event:page"))
        (notification.kind, notification.lane) = (.newPhotos, .bulk)
        #expect(try await NotificationRepository(client).insert(notification))
        return notification.id
    }

    /// Makes another page of the notification.
    func insert(userIDs: [UUID]) async throws -> UUID {
        let addresses = try await PushInstallRepository(client).addresses(userIDs: userIDs)
        let pages = NewDeliveryPage.pages(of: notificationID, on: .bulk, to: addresses)
        try await DeliveryPageRepository(client).insert(pages)
        return try #require(pages.first).id
    }
}

private func withPage(of count: Int, _ body: @Sendable (TestPage) async throws -> Void) async throws {
    try await withStorage { client in
        var installs: [PushInstall] = []
        for seed in 1...count {
            let user = try await UserRepository(client).make(seed).id
            let registered = try await client.withTransaction {
                try await PushInstallRepository($0).register(.make(seed), userID: user)
            }
            installs.append(registered.install)
            // Who is in the topic is asked again of what has waited for ten seconds.
            let topic = try #require(TopicName("event:page"))
            let owner = try #require(installs[0].userID)
            _ = try await TestTopics(client: client).bring(user, to: topic, by: owner)
        }
        var page = TestPage(client: client, notificationID: UUID(), installs: installs, id: UUID())
        page = TestPage(client: client, notificationID: try await page.notify(), installs: installs, id: page.id)
        let id = try await page.insert(userIDs: installs.compactMap(\.userID))
        try await NotificationRepository(client).markAddressed([page.notificationID: count])
        try await body(TestPage(client: client, notificationID: page.notificationID, installs: installs, id: id))
    }
}
