import FoundationEssentials
import PostgresClient
import Storage
import TestSupport
import Testing
import WireFormat

struct EndedDeliveriesTests {
    /// A notification to a topic with `count` deliveries, made `age` ago.
    private func address(_ count: Int, age: Duration = .zero, on client: PostgresClient) async throws -> (
        id: UUID, deliveries: [UUID]
    ) {
        var notification = NewNotification.make(recipient: .topic("event:open"))
        notification.kind = .newPhotos
        _ = try await NotificationRepository(client).insert(notification)
        let batch = (1...count).map { seed in
            NewDelivery(
                id: UUIDv7.generate(), notificationID: notification.id, installID: Self.installation(seed), generation: 1)
        }
        try await client.withTransaction { transaction in
            let deliveries = DeliveryRepository(transaction)
            let made = try await deliveries.insertPending(batch)
            _ = try await deliveries.supersede(
                by: Dictionary(grouping: batch, by: \.notificationID).mapValues { $0.map(\.installID) }, code: "superseded")
            try await NotificationRepository(transaction).markAddressed([notification.id: made.count])
        }
        if age > .zero {
            for table in ["notifications", "deliveries"] {
                let query: PostgresQuery = """
                    UPDATE \(unescaped: table) SET created_at = now() - make_interval(secs => \(age / .seconds(1)))
                    """
                try await client.execute(query)
            }
        }
        return (notification.id, batch.map(\.id))
    }

    private static func installation(_ seed: Int) -> UUID {
        UUID(uuid: (0, 0, 0, 0, 0, 0, 0x40, 0, 0x80, 0, 0, 0, 0, 0, UInt8(seed / 256), UInt8(seed % 256)))
    }

    private func open(_ id: UUID, on client: PostgresClient) async throws -> Int {
        let query: PostgresQuery = "SELECT delivery_count - ended_deliveries AS open FROM notifications WHERE id = \(id)"
        return Int(try #require(try await client.query(query).first).decode("open", as: Int32.self))
    }

    @Test func `a notification counts each of its ended deliveries once`() async throws {
        try await withStorage { client in
            let (id, deliveries) = try await address(5, on: client)
            #expect(try await open(id, on: client) == 5)
            let two = deliveries.prefix(2).map { DeliverySettlement(id: $0, outcome: .accepted) }
            for _ in 0..<2 { try await DeliveryRepository(client).settle(two) }
            #expect(try await open(id, on: client) == 3)
            let put = DeliveryDeferral(id: deliveries[2], attempt: 1, delay: .seconds(9), code: "UNAVAILABLE")
            try await DeliveryRepository(client).deferDeliveries([put])
            #expect(try await open(id, on: client) == 3, "a deferred delivery is open")
        }
    }

    @Test func `superseded deliveries count as ended for the older notification, not for the newer one`() async throws {
        try await withStorage { client in
            let old = try await address(3, age: .seconds(60), on: client)
            let new = try await address(2, on: client)
            #expect(try await open(old.id, on: client) == 1)
            #expect(try await open(new.id, on: client) == 2)
        }
    }

    @Test func `of messages with the same time, only the newest are kept`() async throws {
        try await withStorage { client in
            func say(_ count: Int) async throws -> [UUID] {
                try await client.withTransaction { transaction in
                    var batch: [NewDelivery] = []
                    for _ in 0..<count {
                        var message = NewNotification.make(recipient: .topic("conversation:c"))
                        message.kind = .chatMessage
                        _ = try await NotificationRepository(transaction).insert(message)
                        batch.append(
                            NewDelivery(
                                id: UUIDv7.generate(), notificationID: message.id, installID: Self.installation(1), generation: 1))
                    }
                    let deliveries = DeliveryRepository(transaction)
                    _ = try await deliveries.insertPending(batch)
                    _ = try await deliveries.supersede(
                        by: Dictionary(grouping: batch, by: \.notificationID).mapValues { $0.map(\.installID) }, code: "superseded")
                    return batch.map(\.id)
                }
            }
            let older = try await say(20)
            for table in ["notifications", "deliveries"] {
                let query: PostgresQuery = "UPDATE \(unescaped: table) SET created_at = created_at - interval '1 minute'"
                try await client.execute(query)
            }
            _ = try await say(5)
            let kept = try await DeliveryRepository(client).find(ids: older).filter { $0.state == .pending }.map(\.id)
            #expect(Set(kept) == Set(older.suffix(DeliveryRepository.messagesKept - 5)))
        }
    }

    @Test func `withdrawn deliveries count as ended`() async throws {
        try await withStorage { client in
            let (id, _) = try await address(4, on: client)
            #expect(try await DeliveryRepository(client).withdraw(installIDs: [Self.installation(1)], code: "gone").count == 1)
            #expect(try await open(id, on: client) == 3)
            #expect(try await DeliveryRepository(client).withdraw(notificationIDs: [id], code: "gone") == 3)
            #expect(try await open(id, on: client) == 0)
        }
    }

    @Test func `a wrong count is corrected when the notification is overdue`() async throws {
        try await withStorage { client in
            let (id, deliveries) = try await address(4, on: client)
            _ = try await DeliveryRepository(client).claim(
                [deliveries[0]], of: id, as: UUID(), lane: .urgent, lease: .seconds(60))
            try await client.execute("UPDATE notifications SET delivery_count = 17, ended_deliveries = 3 WHERE id = \(id)")
            #expect(try await DeliveryRepository(client).expireOpen(notificationIDs: [id], code: "late") == 3)
            #expect(try await open(id, on: client) == 1, "a sender holds one of them")
        }
    }

    @Test func `concurrent writers of the same notifications count every delivery`() async throws {
        try await withStorage { client in
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

    @Test func `settling an accepted push is a heap-only update`() async throws {
        try await withStorage { client in
            let (_, deliveries) = try await address(200, on: client)
            let changed = try await client.withTransaction { transaction in
                try await DeliveryRepository(transaction).settle(
                    deliveries.map {
                        DeliverySettlement(id: $0, outcome: .accepted, fcmName: "projects/p/messages/0:1%2", attempt: 1)
                    })
                let query: PostgresQuery = "SELECT pg_stat_get_xact_tuples_hot_updated('deliveries'::regclass) AS n"
                return try await transaction.query(query).first?.decode("n", as: Int64.self)
            }
            #expect(changed == 200, "no index has a new entry")
        }
    }
}
