import FoundationEssentials
import PostgresClient
import Push
import TestSupport
import Testing
import WireFormat

struct NotificationRepositoryTests {
    @Test(.storage) func `a notification is read back completely`() async throws {
        let new = NewNotification.make(content: .sample(.chatMessage, text: "Jörg \"J\" O'Neil"), recipient: .user(UUID()))
        #expect(try await notifications.insert(new))
        let record = try #require(try await notifications.find(ids: [new.id]).first)
        #expect(record.dedupeKey == new.dedupeKey)
        #expect(record.kind == .chatMessage && record.topicID == PushContent.sampleTopicID && record.senderID == PushContent.sampleUserID)
        #expect(record.lane == .urgent)
        #expect(record.recipient == new.recipient)
        #expect(record.content == new.content)
        #expect(record.state == .requested && record.settledAt == nil)
        #expect(abs(record.expiresAt.timeIntervalSince(new.expiresAt)) < 0.001)
    }

    @Test(.storage) func `a text with characters that Postgres refuses in its texts is read back`() async throws {
        let new = NewNotification.make(content: .sample(.jobFailed, text: "a\0\u{301}b"))
        #expect(try await notifications.insert(new))
        #expect(try await notifications.find(ids: [new.id]).first?.content == new.content)
    }

    @Test(.storage) func `what a content is about is in columns of its own`() async throws {
        for kind in NotificationKind.allCases {
            let new = NewNotification.make(content: .sample(kind, thumbnailKey: "k.jpg"))
            #expect(try await notifications.insert(new))
            let row = try #require(
                try await client.query(
                    "SELECT job_id, topic_id, sender_id, account_id, has_picture FROM notifications WHERE id = \(new.id)"
                ).first)
            let references = new.content.push.references
            #expect(try row.decode("job_id", as: UUID?.self) == references.jobID)
            #expect(try row.decode("topic_id", as: UUID?.self) == references.topicID)
            #expect(try row.decode("sender_id", as: UUID?.self) == references.senderID)
            #expect(try row.decode("account_id", as: UUID?.self) == references.accountID)
            #expect(try row.decode("has_picture", as: Bool.self) == new.content.push.hasPicture)
        }
    }

    @Test(.storage) func `a dedupe key counts once, in a batch and among concurrent batches`() async throws {
        let twice = [NewNotification.make(dedupeKey: "ekyc:1"), .make(dedupeKey: "ekyc:1"), .make(dedupeKey: "ekyc:2")]
        let fresh = try await notifications.insert(twice)
        #expect(fresh == [twice[0].id, twice[2].id])
        #expect(try await !notifications.insert(.make(dedupeKey: "ekyc:2")))

        let made = try await race(8) { _ in
            try await notifications.insert((0..<30).shuffled().map { .make(dedupeKey: "photo:\($0)") }).count
        }
        #expect(made.reduce(0, +) == 30)
    }

    @Test(.storage) func `the database knows every kind and lane`() async throws {
        for kind in NotificationKind.allCases {
            for lane in Lane.allCases {
                var new = NewNotification.make(content: .sample(kind), recipient: .topic("event:42"))
                new.lane = lane
                #expect(try await notifications.insert(new))
            }
        }
    }

    @Test(.storage) func `a notification is settled once, when its last delivery has ended, and loses its content`() async throws {
        let new = NewNotification.make()
        _ = try await notifications.insert(new)
        let page = NewDeliveryPage.make(new.id, installs: [UUID(), UUID()])
        try await DeliveryPageRepository(client).insert([page])
        #expect(try await notifications.settle([new.id]).isEmpty, "not addressed yet")
        try await notifications.markAddressed([new.id: 2])
        try await deliveries.settle([DeliverySettlement(id: page.deliveryIDs[0], outcome: .accepted)])
        #expect(try await notifications.settle([new.id]).isEmpty, "one delivery is open")
        try await deliveries.settle([DeliverySettlement(id: page.deliveryIDs[1], outcome: .dead)])
        let settled = try await race(8) { _ in try await notifications.settle([new.id]) }
        #expect(settled.filter { !$0.isEmpty } == [[new.id]])
        let record = try #require(try await notifications.find(ids: [new.id]).first)
        #expect(record.state == .settled)
        #expect(record.settledAt != nil)
        #expect(record.content == nil)
    }

    @Test(.storage) func `a skipped notification has a reason and stays skipped`() async throws {
        let new = NewNotification.make()
        _ = try await notifications.insert(new)
        #expect(try await notifications.markSkipped([new.id], reason: .tokenMissing) == [new.id])
        #expect(try await notifications.markSkipped([new.id], reason: .expired).isEmpty)
        try await notifications.markAddressed([new.id: 1])
        let record = try #require(try await notifications.find(ids: [new.id]).first)
        #expect(record.state == .skipped)
        #expect(record.skipReason == "token_missing")
        #expect(record.content == nil)
    }

    @Test(.storage) func `old notifications are deleted after their deliveries, in batches`() async throws {
        let batch = (0..<3).map { _ in NewNotification.make() }
        _ = try await notifications.insert(batch)
        let page = NewDeliveryPage.make(batch[0].id)
        try await DeliveryPageRepository(client).insert([page])
        try await deliveries.settle([DeliverySettlement(id: page.deliveryIDs[0], outcome: .failed)])
        #expect(try await DeliveryPageRepository(client).deleteOlder(than: .zero, limit: 10) == 1)
        try await client.execute(
            "UPDATE notifications SET created_at = now() - interval '31 days' WHERE id <> \(batch[2].id)")
        #expect(try await notifications.deleteOlder(than: .seconds(30 * 86400), limit: 1) == 1)
        #expect(try await notifications.deleteOlder(than: .seconds(30 * 86400), limit: 10) == 0, "it has a delivery")
        #expect(try await deliveries.deleteOlder(than: .seconds(30 * 86400), limit: 10) == 1)
        #expect(try await notifications.deleteOlder(than: .seconds(30 * 86400), limit: 10) == 1)
        #expect(try await deliveries.find(ids: page.deliveryIDs).isEmpty)
        #expect(try await notifications.find(ids: batch.map(\.id)).map(\.id) == [batch[2].id])
    }
}
