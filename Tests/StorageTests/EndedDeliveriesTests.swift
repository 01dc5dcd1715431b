import FoundationEssentials
import PostgresClient
import Push
import TestSupport
import Testing
import WireFormat

struct EndedDeliveriesTests {
    /// A notification to a topic with `count` deliveries, made `age` ago.
    private func address(_ count: Int, age: Duration = .zero, on client: PostgresClient) async throws -> (
        id: UUID, deliveries: [UUID]
    ) {
        let notification = NewNotification.make(content: .sample(.newPhotos), recipient: .topic("event:open"))
        _ = try await NotificationRepository(client).insert(notification)
        let page = NewDeliveryPage.make(notification.id, installs: (1...count).map(Self.installation))
        try await client.withTransaction { transaction in
            try await DeliveryPageRepository(transaction).insert([page])
            _ = try await DeliveryRepository(transaction).supersede(
                by: [notification.id: [page.addressed]], code: .superseded)
            try await NotificationRepository(transaction).markAddressed([notification.id: count])
        }
        if age > .zero {
            for table in ["notifications", "delivery_pages"] {
                let query: PostgresQuery = """
                    UPDATE \(unescaped: table) SET created_at = now() - make_interval(secs => \(age / .seconds(1)))
                    """
                try await client.execute(query)
            }
        }
        return (notification.id, page.deliveryIDs)
    }

    private static func installation(_ seed: Int) -> UUID {
        UUID(uuid: (0, 0, 0, 0, 0, 0, 0x40, 0, 0x80, 0, 0, 0, 0, 0, UInt8(seed / 256), UInt8(seed % 256)))
    }

    private func open(_ id: UUID, on client: PostgresClient) async throws -> Int {
        let query: PostgresQuery = "SELECT delivery_count - ended_deliveries AS open FROM notifications WHERE id = \(id)"
        return Int(try #require(try await client.query(query).first).decode("open", as: Int32.self))
    }

    @Test(.storage) func `a notification counts each of its ended deliveries once`() async throws {
        let (id, deliveries) = try await address(5, on: client)
        #expect(try await open(id, on: client) == 5)
        let two = deliveries.prefix(2).map { DeliverySettlement(id: $0, outcome: .accepted) }
        for _ in 0..<2 { try await DeliveryRepository(client).settle(two) }
        #expect(try await open(id, on: client) == 3)
        _ = try await DeliveryRepository(client).claim(deliveries)
        let put = DeliveryDeferral(id: deliveries[2], attempt: 1, delay: .seconds(9), code: "UNAVAILABLE")
        try await DeliveryRepository(client).deferDeliveries([put])
        #expect(try await open(id, on: client) == 3, "a deferred delivery is open")
    }

    @Test(.storage) func `superseded deliveries count as ended for the older notification, not for the newer one`() async throws {
        let old = try await address(3, age: .seconds(60), on: client)
        let new = try await address(2, on: client)
        #expect(try await open(old.id, on: client) == 1)
        #expect(try await open(new.id, on: client) == 2)
    }

    @Test(.storage) func `of messages with the same time, only the newest are kept`() async throws {
        func say(_ count: Int) async throws -> [UUID] {
            try await client.withTransaction { transaction in
                var pages: [NewDeliveryPage] = []
                for _ in 0..<count {
                    let message = NewNotification.make(content: .sample(.chatMessage), recipient: .topic("conversation:c"))
                    _ = try await NotificationRepository(transaction).insert(message)
                    pages.append(.make(message.id, installs: [Self.installation(1)]))
                }
                try await DeliveryPageRepository(transaction).insert(pages)
                _ = try await DeliveryRepository(transaction).supersede(
                    by: Dictionary(uniqueKeysWithValues: pages.map { ($0.notificationID, [$0.addressed]) }),
                    code: .superseded)
                return pages.flatMap(\.deliveryIDs)
            }
        }
        let older = try await say(20)
        for table in ["notifications", "delivery_pages"] {
            let query: PostgresQuery = "UPDATE \(unescaped: table) SET created_at = created_at - interval '1 minute'"
            try await client.execute(query)
        }
        _ = try await say(5)
        let kept = try await DeliveryRepository(client).find(ids: older).filter { $0.state == .pending }.map(\.id)
        let newestKept = try #require(ChatMessagePush.newestKept)
        #expect(Set(kept) == Set(older.suffix(newestKept - 5)))
    }

    @Test(.storage) func `withdrawn deliveries count as ended`() async throws {
        let (id, deliveries) = try await address(4, on: client)
        let repository = DeliveryRepository(client)
        _ = try await repository.claim(deliveries)
        try await repository.deferDeliveries([DeliveryDeferral(id: deliveries[0], attempt: 1, delay: .seconds(9), code: "UNAVAILABLE")])
        #expect(try await repository.withdraw(installIDs: [Self.installation(1)], code: .userErased).count == 1)
        #expect(try await open(id, on: client) == 3)
        try await client.execute("UPDATE delivery_pages SET due_at = now() - interval '1 second'")
        #expect(try await repository.withdraw(notificationIDs: [id], code: .userErased) == 3)
        #expect(try await open(id, on: client) == 0)
    }

    @Test(.storage) func `a wrong count is corrected when the notification is overdue`() async throws {
        let (id, deliveries) = try await address(4, on: client)
        let held = NewDeliveryPage.make(id, installs: [Self.installation(5)])
        try await DeliveryPageRepository(client).insert([held])
        _ = try await DeliveryRepository(client).claim(page: held.id, lease: .seconds(60))
        #expect(deliveries.count == 4)
        try await client.execute("UPDATE notifications SET delivery_count = 17, ended_deliveries = 3 WHERE id = \(id)")
        #expect(try await DeliveryRepository(client).expireOpen(notificationIDs: [id], code: .neverSent) == 4)
        #expect(try await open(id, on: client) == 1, "a sender holds one of them")
    }

    @Test(.storage) func `concurrent writers of the same notifications count every delivery`() async throws {
        var deliveries: [UUID] = []
        var notifications: [UUID] = []
        for _ in 0..<6 {
            let made = try await address(20, on: client)
            notifications.append(made.id)
            deliveries += made.deliveries
        }
        let shuffled = deliveries.shuffled()
        _ = try await race(8) { writer in
            let part = stride(from: writer, to: shuffled.count, by: 8).map {
                DeliverySettlement(id: shuffled[$0], outcome: .accepted)
            }
            return try await client.withTransaction { transaction in
                try await DeliveryRepository(transaction).settle(part).count
            }
        }
        for id in notifications { #expect(try await open(id, on: client) == 0) }
    }
}
