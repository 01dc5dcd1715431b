import FoundationEssentials
import PostgresClient
import Push
import TestSupport
import Testing
import WireFormat

struct DeliveryPageTests {
    @Test(.storage) func `a claimed page has all data needed to send its pushes`() async throws {
        let page = try await TestPage.make(of: 3)
        let before = Date()
        let claimed = try await page.claim()
        #expect(Set(claimed.map(\.id)).count == 3)
        #expect(Set(claimed.map(\.installID)) == Set(page.installs.map(\.id)))
        let notification = try #require(claimed.first).notification
        #expect(notification.kind == .newPhotos)
        #expect(notification.lane == .bulk)
        #expect(notification.recipient == .topic("event:page"))
        #expect(notification.content == .sample(.newPhotos, thumbnailKey: "Jörg \"J\" O'Neil.jpg"))
        for delivery in claimed {
            let install = try #require(page.installs.first { $0.id == delivery.installID })
            #expect(delivery.attempt == 1)
            #expect(delivery.target?.installationKey == install.installationKey)
            #expect(delivery.target?.userID == install.userID)
            #expect(delivery.target?.kind == .token)
            #expect(delivery.target?.valueSealed == install.valueSealed)
            #expect(delivery.generation == install.generation)
            #expect(delivery.notification === notification)
        }
        let leaseEnd: Date? = try await page.client.query("SELECT due_at FROM delivery_pages").first?.decode("due_at")
        #expect(try #require(leaseEnd) > before.addingTimeInterval(59))
    }

    @Test(.storage, arguments: [false, true])
    func `a page's push is sent to the current token of its user's phone, and not to another user's`(isDue: Bool) async throws {
        let page = try await TestPage.make(of: 2)
        let (kept, passedOn) = (page.installs[0], page.installs[1])
        let later = Date(timeIntervalSinceNow: 5)
        _ = try await page.client.register(.make(1, value: 2, seenAt: later), try #require(kept.userID))
        _ = try await page.client.register(.make(2, value: 2, seenAt: later), try #require(kept.userID))
        if isDue {
            _ = try await page.claim()
            try await page.end("due_at = now() - interval '1 second'")
        }
        let claims = isDue ? try await page.claimDue() : try await page.claim()
        let claimed = Dictionary(uniqueKeysWithValues: claims.map { ($0.installID, $0) })
        #expect(claimed[kept.id]?.target?.valueSealed == [2])
        #expect(claimed[kept.id]?.generation == 2)
        #expect(claimed[passedOn.id]?.target == nil)
        #expect(claimed[passedOn.id]?.suppression == .noInstallation)
        #expect(claimed[passedOn.id]?.generation == 1, "its row must not conflict with the delivery to the next user")
    }

    @Test(.storage) func `a claim is renewed as long as no other sender has the page`() async throws {
        let page = try await TestPage.make(of: 2)
        let deliveries = DeliveryRepository(page.client)
        let claim = try #require(try await page.claim().first).claim
        #expect(claim.isPage)
        try await page.end("due_at = now() - interval '1 second'")
        #expect(try await deliveries.renew([claim], lease: .seconds(60)) == [claim])
        #expect(try await page.claimDue().isEmpty)
        try await page.end("due_at = now() - interval '1 second'")
        let next = try #require(try await page.claimDue().first).claim
        #expect(next != claim)
        #expect(try await deliveries.renew([claim, next], lease: .seconds(60)) == [next])
    }

    @Test(.storage) func `a claim of a detached delivery is renewed as long as no other sender has it`() async throws {
        let page = try await TestPage.make(of: 1)
        let deliveries = DeliveryRepository(page.client)
        let first = try #require(try await page.claim().first)
        let deferral = DeliveryDeferral(id: first.id, attempt: first.attempt, delay: .zero, code: "UNAVAILABLE")
        _ = try await page.client.withTransaction { try await DeliveryRepository($0).deferDeliveries([deferral]) }
        let claim = try #require(try await page.claimDue().first).claim
        #expect(!claim.isPage)
        #expect(try await deliveries.renew([first.claim, claim], lease: .seconds(60)) == [claim])
        try await page.client.execute("UPDATE deliveries SET attempt = attempt + 1")
        #expect(try await deliveries.renew([claim], lease: .seconds(60)).isEmpty)
    }

    @Test(.storage) func `one of several concurrent senders claims a page, and another can after the lease`() async throws {
        let page = try await TestPage.make(of: 2)
        #expect(try await race(8) { _ in try await page.claim().count }.reduce(0, +) == 2)
        #expect(try await page.claimDue().isEmpty)
        for attempt in 2...3 {
            try await page.end("due_at = now() - interval '1 second'")
            let again = try await race(8) { _ in try await page.claimDue() }.flatMap { $0 }
            #expect(again.map(\.attempt) == [attempt, attempt])
        }
    }

    @Test(.storage) func `a page whose event reaches no sender becomes due`() async throws {
        let page = try await TestPage.make(of: 2)
        #expect(try await page.claimDue().isEmpty)
        try await page.end("due_at = due_at - make_interval(secs => \(DeliveryPageRepository.eventAge / .seconds(1)))")
        let due = try await page.claimDue()
        #expect(due.count == 2 && due.allSatisfy { $0.attempt == 1 && !$0.mayHaveArrived })
        #expect(try await page.claim().isEmpty)
        #expect(try await page.deliveries.find(ids: due.map(\.id)).allSatisfy { $0.code == "event_missing" })
    }

    @Test(.storage) func `as many due pages are claimed at once as have no more deliveries than the limit`() async throws {
        let page = try await TestPage.make(of: 2)
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

    @Test(.storage) func `deliveries of several pages are claimed with the data of their own page and notification`() async throws {
        let page = try await TestPage.make(of: 3)
        let users = page.installs.compactMap(\.userID)
        let accepted = try #require(try await page.claim().first).id
        _ = try await page.settle([DeliverySettlement(id: accepted, outcome: .accepted)])
        let other = try await page.notify()
        let pages = [page.id, try await TestPage.insert(page.client, other, users), try await page.insert(userIDs: [users[2], users[0]])]
        for (place, id) in pages.enumerated() {
            try await page.client.execute(
                "UPDATE delivery_pages SET due_at = now() - make_interval(secs => \(10 - place)) WHERE id = \(id)")
        }
        let claimed = try await page.claimDue()
        #expect(claimed.count == 7 && Set(claimed.map(\.id)).count == 7 && !claimed.map(\.id).contains(accepted))
        #expect(Set(claimed.map { ObjectIdentifier($0.notification) }).count == 2)
        for delivery in claimed {
            let (pageID, number) = try #require(DeliveryPage.place(of: delivery.id))
            let row = try #require(try await page.client.query("SELECT * FROM delivery_pages WHERE id = \(pageID)").first)
            let installIDs: [UUID] = try row.decode("install_ids")
            let notificationID: UUID = try row.decode("notification_id")
            #expect(delivery.installID == installIDs[number - 1] && delivery.notification.id == notificationID)
            #expect(delivery.claim.rowID == pageID && delivery.claim.isPage)
            #expect(delivery.attempt == (pageID == page.id ? 2 : 1) && delivery.mayHaveArrived == (pageID == page.id))
        }
    }

    @Test(.storage) func `deferred deliveries of two notifications are claimed with their own, in any order`() async throws {
        let page = try await TestPage.make(of: 3)
        let other = try await TestPage.insert(page.client, try await page.notify(), page.installs.compactMap(\.userID))
        let first = try await page.claim() + page.claim(other)
        for (mine, others) in zip(first.prefix(3), first.suffix(3)) {
            try await page.deferDelivery(mine, attempt: 1)
            try await page.deferDelivery(others, attempt: 1)
        }
        // In the order of these deferrals, so that the notifications alternate.
        try await page.client.execute(
            """
            UPDATE deliveries d SET due_at = now() - interval '1 hour' + row * interval '1 second'
            FROM (SELECT id, row_number() OVER (PARTITION BY notification_id ORDER BY id) AS row FROM deliveries) o WHERE o.id = d.id
            """)
        let again = try await page.claimDue()
        #expect(again.count == 6)
        for delivery in again {
            let before = try #require(first.first { $0.id == delivery.id })
            #expect(delivery.notification.id == before.notification.id && delivery.installID == before.installID)
            #expect(delivery.claim.rowID == delivery.id && !delivery.claim.isPage && delivery.attempt == 2)
        }
    }

    @Test(.storage) func `a deferred page is due as a whole, and cannot be claimed by its event`() async throws {
        let page = try await TestPage.make(of: 2)
        let begin = ContinuousClock.now
        try await page.deliveries.deferUnclaimed(page: page.id, for: .seconds(30), code: "lane_paused")
        #expect(try await page.claim().isEmpty)
        let wait = try #require(try await page.deliveries.timeUntilDue(lanes: [.bulk]))
        #expect(wait > .seconds(29) - (.now - begin) && wait < .seconds(31))
        try await page.end("due_at = now()")
        #expect(try await page.claimDue().map(\.attempt) == [1, 1])
    }

    @Test(.storage) func `accepted deliveries are settled once, and the page with the last one`() async throws {
        let page = try await TestPage.make(of: 3)
        let ids = try await page.claim().map(\.id)
        let first = DeliverySettlement(id: ids[0], outcome: .accepted, fcmName: "projects/p/messages/1", attempt: 1)
        #expect(try await page.settle([first]) == [ids[0]])
        #expect(try await page.settle([first]).isEmpty)
        #expect(try await page.open() == 2)
        let found = try #require(try await page.deliveries.find(ids: [ids[0]]).first)
        #expect(found.state == .accepted)
        #expect(found.fcmName == "projects/p/messages/1")
        #expect(found.settledAt != nil)
        try await page.end("due_at = now() - interval '1 second'")
        #expect(Set(try await page.claimDue().map(\.id)) == Set(ids.dropFirst()), "settled deliveries are not claimed again")
        #expect(try await page.settle(ids.dropFirst().map { DeliverySettlement(id: $0, outcome: .accepted) }).count == 2)
        #expect(try await page.open() == 0)
        #expect(try await page.deliveries.timeUntilDue(lanes: [.bulk]) == nil)
    }

    @Test(.storage) func `a failed delivery gets its own row`() async throws {
        let page = try await TestPage.make(of: 3)
        let ids = try await page.claim().map(\.id)
        let dead = DeliverySettlement(id: ids[1], outcome: .dead, code: "UNREGISTERED", attempt: 1, generation: 1)
        for _ in 0..<2 { _ = try await page.settle([dead]) }
        #expect(try await page.open() == 2)
        let all = try await page.deliveries.find(notificationID: page.notificationID)
        #expect(all.count == 3 && all.filter { $0.state == .dead }.map(\.id) == [ids[1]])
        #expect(all.first { $0.id == ids[1] }?.code == "UNREGISTERED")
    }

    @Test(.storage) func `a deferred delivery gets its own row, from which it is sent again`() async throws {
        let page = try await TestPage.make(of: 3)
        let claimed = try await page.claim()
        try await page.deferDelivery(claimed[2], attempt: 1)
        #expect(try await page.open() == 3)
        #expect(try await page.claimDue().map(\.id) == [claimed[2].id])
        #expect(try await page.settle([DeliverySettlement(id: claimed[2].id, outcome: .accepted, attempt: 2)]).count == 1)
        #expect(try await page.deliveries.find(ids: [claimed[2].id]).map(\.attempt) == [2])
        #expect(try await page.open() == 2)
    }

    @Test(.storage) func `a sender that lost its lease cannot defer, but its accepted deliveries count`() async throws {
        let page = try await TestPage.make(of: 2)
        let ids = try await page.claim().map(\.id)
        try await page.end("due_at = now() - interval '1 second'")
        let again = try await page.claimDue()
        try await page.deferDelivery(again[0], attempt: 1)
        #expect(try await page.claimDue().isEmpty)
        #expect(try await page.settle(ids.map { DeliverySettlement(id: $0, outcome: .accepted, attempt: 1) }).count == 2)
        #expect(try await page.open() == 0)
    }

    @Test(.storage) func `a deferred delivery can still be settled by its former sender`() async throws {
        let page = try await TestPage.make(of: 2)
        let claimed = try await page.claim()
        try await page.deferDelivery(claimed[0], attempt: 1)
        #expect(try await page.settle([DeliverySettlement(id: claimed[0].id, outcome: .accepted)]) == [claimed[0].id])
        #expect(try await page.claimDue().isEmpty)
    }

    @Test(.storage) func `an installation that changes users during a fan-out still gets the push to its new user`() async throws {
        let page = try await TestPage.make(of: 2)
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

    @Test(.storage) func `an installation that changes users while its first push waits gets the second, and both are counted`()
        async throws
    {
        let page = try await TestPage.make(of: 2)
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

    @Test(.storage) func `the message name of a repeated settlement is stored once`() async throws {
        let page = try await TestPage.make(of: 2)
        let ids = try await page.claim().map(\.id)
        let told = ids.map { DeliverySettlement(id: $0, outcome: .accepted, fcmName: "projects/p/messages/\($0)") }
        #expect(try await page.settle([told[0]]).count == 1)
        #expect(try await page.settle(told) == [ids[1]])
        #expect(try await page.deliveries.find(notificationID: page.notificationID).count == 2)
    }

    @Test(.storage) func `a newer push supersedes waiting ones of a page, and the others are sent`() async throws {
        let page = try await TestPage.make(of: 3)
        try await page.end("created_at = now() - interval '60 seconds'")
        let newer = NewDeliveryPage.make(try await page.notify(), lane: .bulk, installs: page.installs.prefix(2).map(\.id))
        let ended = try await page.client.withTransaction { transaction in
            try await DeliveryPageRepository(transaction).insert([newer])
            return try await DeliveryRepository(transaction).supersede(
                by: [newer.notificationID: [newer.addressed]], code: .superseded)
        }
        #expect(ended == [page.notificationID])
        #expect(try await page.open() == 1)
        #expect(try await page.claimDue().map(\.installID) == [page.installs[2].id])
    }

    @Test(.storage) func `a receipt for a push of a page is accepted from its recipient only`() async throws {
        let page = try await TestPage.make(of: 3)
        let receipts = ReceiptRepository(page.client)
        let mine = page.installs[1]
        let receipt = Receipt(subject: .notification(page.notificationID), event: .opened, at: Date())
        let userID = try #require(mine.userID)
        #expect(try await receipts.record([receipt], userID: userID, installationKey: mine.installationKey).count == 1)
        let stranger = try await page.client.user(99)
        #expect(try await receipts.record([receipt], userID: stranger, installationKey: mine.installationKey).isEmpty)
    }

    @Test(.storage) func `figures count the deliveries of pages`() async throws {
        let page = try await TestPage.make(of: 3)
        let ids = try await page.claim().map(\.id)
        _ = try await page.settle([
            DeliverySettlement(id: ids[0], outcome: .accepted), DeliverySettlement(id: ids[1], outcome: .accepted),
            DeliverySettlement(id: ids[2], outcome: .dead),
        ])
        let figures = try await ReceiptRepository(page.client).figures(since: Date(timeIntervalSinceNow: -600))
        #expect(figures.map(\.accepted) == [2] && figures.map(\.dead) == [1])
    }

    @Test(.storage) func `old pages are deleted, and then their notification`() async throws {
        let page = try await TestPage.make(of: 2)
        try await page.client.execute("UPDATE notifications SET created_at = now() - interval '2 days'")
        #expect(try await notifications.deleteOlder(than: .seconds(86_400), limit: 10) == 0)
        #expect(try await DeliveryPageRepository(page.client).deleteOlder(than: .seconds(86_400), limit: 10) == 1)
        #expect(try await notifications.deleteOlder(than: .seconds(86_400), limit: 10) == 1)
    }
}

/// A notification to a topic with a page of deliveries, to one installation of each user.
private struct TestPage: Sendable {
    let client: PostgresClient
    let notificationID: UUID
    let installs: [PushInstall]
    let id: UUID

    var deliveries: DeliveryRepository { DeliveryRepository(client) }

    /// Makes the notification, `count` users with an installation each, and the page.
    static func make(of count: Int) async throws -> TestPage {
        let (topics, users) = try await TestTopics.make(users: count)
        let client = topics.client
        var installs: [PushInstall] = []
        for (seed, user) in zip(1..., users) {
            installs.append(try await client.register(.make(seed), user).install)
            // Membership is checked again for deliveries that have waited for ten seconds.
            _ = try await topics.bring(user, to: .page, by: users[0])
        }
        let id = try await notify(client)
        let page = TestPage(client: client, notificationID: id, installs: installs, id: try await insert(client, id, users))
        try await NotificationRepository(client).markAddressed([id: count])
        return page
    }

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

    func notify() async throws -> UUID { try await Self.notify(client) }

    private static func notify(_ client: PostgresClient) async throws -> UUID {
        let content = PushContent.sample(.newPhotos, thumbnailKey: "Jörg \"J\" O'Neil.jpg")
        var notification = NewNotification.make(content: content, recipient: .topic(TopicName.page.text))
        notification.lane = .bulk
        #expect(try await NotificationRepository(client).insert(notification))
        return notification.id
    }

    /// Makes another page of the notification.
    func insert(userIDs: [UUID]) async throws -> UUID { try await Self.insert(client, notificationID, userIDs) }

    fileprivate static func insert(_ client: PostgresClient, _ notificationID: UUID, _ userIDs: [UUID]) async throws -> UUID {
        let addresses = try await PushInstallRepository(client).addresses(userIDs: userIDs)
        let pages = NewDeliveryPage.pages(of: notificationID, on: .bulk, to: addresses)
        try await DeliveryPageRepository(client).insert(pages)
        return try #require(pages.first).id
    }
}

extension TopicName {
    fileprivate static let page = TopicName("event:page")!
}
