import FoundationEssentials
import PostgresClient
import Storage
import TestSupport
import Testing
import WireFormat

struct DeliveryPageTests {
    @Test func `a claimed page has all data needed to send its pushes`() async throws {
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

    @Test func `a page's push is sent to the current token of its user's phone`() async throws {
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
            #expect(passedOn?.suppression == .noInstallation)
            #expect(passedOn?.generation == 1, "its row must not conflict with the delivery to the next user")
        }
    }

    @Test func `one of several concurrent senders claims a page, and another can after the lease`() async throws {
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

    @Test func `a page whose event reaches no sender becomes due`() async throws {
        try await withPage(of: 2) { page in
            #expect(try await page.claimDue().isEmpty)
            try await page.end("due_at = due_at - make_interval(secs => \(DeliveryPageRepository.eventAge / .seconds(1)))")
            let due = try await page.claimDue()
            #expect(due.count == 2 && due.allSatisfy { $0.attempt == 1 && !$0.mayHaveArrived })
            #expect(try await page.claim().isEmpty)
            #expect(try await page.deliveries.find(ids: due.map(\.id)).allSatisfy { $0.code == "event_missing" })
        }
    }

    @Test func `as many due pages are claimed at once as have no more deliveries than the limit`() async throws {
        try await withPage(of: 2) { page in
            let users = page.installs.compactMap(\.userID)
            for _ in 0..<3 { _ = try await page.insert(userIDs: users) }
            try await page.client.execute("UPDATE delivery_pages SET due_at = now() - interval '1 second'")
            var counts: [Int] = []
            for _ in 0..<3 {
                counts.append(
                    try await page.client.withTransaction {
                        try await DeliveryRepository($0).claimDue(lane: .bulk, limit: 5, lease: .seconds(60)).count
                    })
            }
            #expect(counts == [4, 4, 0])
        }
    }

    @Test func `a deferred page is due as a whole, and cannot be claimed by its event`() async throws {
        try await withPage(of: 2) { page in
            let begin = ContinuousClock.now
            try await page.deliveries.deferUnclaimed(page: page.id, for: .seconds(30), code: "lane_paused")
            #expect(try await page.claim().isEmpty)
            let wait = try #require(try await page.deliveries.timeUntilDue(lanes: [.bulk]))
            #expect(wait > .seconds(29) - (.now - begin) && wait < .seconds(31))
            try await page.end("due_at = now()")
            #expect(try await page.claimDue().map(\.attempt) == [1, 1])
        }
    }

    @Test func `accepted deliveries are settled once, and the page with the last one`() async throws {
        try await withPage(of: 3) { page in
            let ids = try await page.claim().map(\.id)
            let first = DeliverySettlement(id: ids[0], outcome: .accepted, fcmName: "projects/p/messages/1", attempt: 1)
            #expect(try await page.settle([first]) == [ids[0]])
            #expect(try await page.settle([first]).isEmpty)
            #expect(try await page.open() == 2)
            let found = try #require(try await page.deliveries.find(ids: [ids[0]]).first)
            #expect(found.state == .accepted && found.fcmName == "projects/p/messages/1" && found.settledAt != nil)
            try await page.end("due_at = now() - interval '1 second'")
            #expect(Set(try await page.claimDue().map(\.id)) == Set(ids.dropFirst()), "settled deliveries are not claimed again")
            #expect(try await page.settle(ids.dropFirst().map { DeliverySettlement(id: $0, outcome: .accepted) }).count == 2)
            #expect(try await page.open() == 0)
            #expect(try await page.deliveries.timeUntilDue(lanes: [.bulk]) == nil)
        }
    }

    @Test func `a failed delivery gets its own row`() async throws {
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

    @Test func `a deferred delivery gets its own row, from which it is sent again`() async throws {
        try await withPage(of: 3) { page in
            let claimed = try await page.claim()
            try await page.deferDelivery(claimed[2], attempt: 1)
            #expect(try await page.open() == 3)
            #expect(try await page.claimDue().map(\.id) == [claimed[2].id])
            #expect(try await page.settle([DeliverySettlement(id: claimed[2].id, outcome: .accepted, attempt: 2)]).count == 1)
            #expect(try await page.deliveries.find(ids: [claimed[2].id]).map(\.attempt) == [2])
            #expect(try await page.open() == 2)
        }
    }

    @Test func `a sender that lost its lease cannot defer, but its accepted deliveries count`() async throws {
        try await withPage(of: 2) { page in
            let ids = try await page.claim().map(\.id)
            try await page.end("due_at = now() - interval '1 second'")
            let again = try await page.claimDue()
            try await page.deferDelivery(again[0], attempt: 1)
            #expect(try await page.claimDue().isEmpty)
            #expect(try await page.settle(ids.map { DeliverySettlement(id: $0, outcome: .accepted, attempt: 1) }).count == 2)
            #expect(try await page.open() == 0)
        }
    }

    @Test func `a deferred delivery can still be settled by its former sender`() async throws {
        try await withPage(of: 2) { page in
            let claimed = try await page.claim()
            try await page.deferDelivery(claimed[0], attempt: 1)
            #expect(try await page.settle([DeliverySettlement(id: claimed[0].id, outcome: .accepted)]) == [claimed[0].id])
            #expect(try await page.claimDue().isEmpty)
        }
    }

    @Test func `an installation that changes users during a fan-out still gets the push to its new user`() async throws {
        try await withPage(of: 2) { page in
            let claimed = try await page.claim()
            let installID = claimed[0].installID
            _ = try await page.settle([DeliverySettlement(id: claimed[0].id, outcome: .skipped, code: "no_installation")])
            try await page.client.execute("UPDATE push_installs SET generation = generation + 1 WHERE id = \(installID)")
            let second = try await page.insert(userIDs: [try #require(claimed[0].target?.userID)])
            let again = try await page.claim(second)
            #expect(again.map(\.installID) == [installID] && again[0].target != nil)
            try await page.deferDelivery(again[0], attempt: 1)
            #expect(try await page.claimDue().map(\.id) == [again[0].id])
        }
    }

    @Test func `an installation that changes users while its first push waits gets the second, and both are counted`() async throws {
        try await withPage(of: 2) { page in
            let claimed = try await page.claim()
            try await page.deferDelivery(claimed[0], attempt: 1)
            try await page.client.execute(
                "UPDATE push_installs SET generation = generation + 1 WHERE id = \(claimed[0].installID)")
            let second = try await page.insert(userIDs: [try #require(claimed[0].target?.userID)])
            try await page.client.execute("UPDATE notifications SET delivery_count = delivery_count + 1")
            try await page.deferDelivery(try #require(try await page.claim(second).first), attempt: 1)
            #expect(try await page.open() == 2, "the first is ended, its second and that of the other are open")
            let again = try await page.claimDue()
            #expect(again.map(\.installID) == [claimed[0].installID] && again[0].target != nil)
        }
    }

    @Test func `the message name of a repeated settlement is stored once`() async throws {
        try await withPage(of: 2) { page in
            let ids = try await page.claim().map(\.id)
            let told = ids.map { DeliverySettlement(id: $0, outcome: .accepted, fcmName: "projects/p/messages/\($0)") }
            #expect(try await page.settle([told[0]]).count == 1)
            #expect(try await page.settle(told) == [ids[1]])
            #expect(try await page.deliveries.find(notificationID: page.notificationID).count == 2)
        }
    }

    @Test func `pending deliveries of a page are withdrawn with their notification`() async throws {
        try await withPage(of: 3) { page in
            let taken = try await page.deliveries.withdraw(notificationIDs: [page.notificationID], code: "user_erased")
            #expect(taken == 3)
            #expect(try await page.open() == 0)
            #expect(try await page.claim().isEmpty)
        }
    }

    @Test func `expired deliveries of a page are ended, except those that a sender holds`() async throws {
        try await withPage(of: 3) { page in
            _ = try await page.claim()
            #expect(try await page.deliveries.expireOpen(notificationIDs: [page.notificationID], code: "NEVER_SENT") == 0)
            try await page.end("due_at = now() - interval '1 second'")
            #expect(try await page.deliveries.expireOpen(notificationIDs: [page.notificationID], code: "NEVER_SENT") == 3)
            #expect(try await page.open() == 0)
        }
    }

    @Test func `a newer push supersedes waiting ones of a page, and the others are sent`() async throws {
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

    @Test func `a receipt for a push of a page is accepted from its recipient only`() async throws {
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

    @Test func `figures count the deliveries of pages`() async throws {
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

    @Test func `old pages are deleted, and then their notification`() async throws {
        try await withPage(of: 2) { page in
            let notifications = NotificationRepository(page.client)
            try await page.client.execute("UPDATE notifications SET created_at = now() - interval '2 days'")
            #expect(try await notifications.deleteOlder(than: .seconds(86_400), limit: 10) == 0)
            #expect(try await DeliveryPageRepository(page.client).deleteOlder(than: .seconds(86_400), limit: 10) == 1)
            #expect(try await notifications.deleteOlder(than: .seconds(86_400), limit: 10) == 1)
        }
    }
}

/// A notification to a topic with a page of deliveries, to one installation of each user.
private struct TestPage: Sendable {
    let client: PostgresClient
    let notificationID: UUID
    let installs: [PushInstall]
    let id: UUID

    var deliveries: DeliveryRepository { DeliveryRepository(client) }

    func claim(_ page: UUID? = nil) async throws -> [ClaimedDelivery] {
        try await client.withTransaction { transaction in
            try await DeliveryRepository(transaction).claim(page: page ?? id, lease: .seconds(60))
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

    /// Defers a delivery with a delay of zero.
    func deferDelivery(_ delivery: ClaimedDelivery, attempt: Int) async throws {
        let deferral = DeliveryDeferral(id: delivery.id, attempt: attempt, delay: .zero, code: "UNAVAILABLE")
        _ = try await client.withTransaction { try await DeliveryRepository($0).deferDeliveries([deferral]) }
    }

    /// Changes the page's row directly.
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
            // Membership is checked again for deliveries that have waited for ten seconds.
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
