import FoundationEssentials
import PostgresClient
import Storage
import TestSupport
import Testing
import WireFormat

/// Deliveries whose event does not reach a sender.
struct UnsentDeliveriesTests {
    /// An addressed notification, made `age` ago, with one delivery.
    private func address(age: Duration, on client: PostgresClient) async throws -> (notificationID: UUID, deliveryID: UUID) {
        let install = try await PushInstallRepository(client).registerUnbound(.make(1))
        let notification = NewNotification.make(recipient: .session(UUID()))
        _ = try await NotificationRepository(client).insert(notification)
        let delivery = NewDelivery(
            id: UUIDv7.generate(), notificationID: notification.id, installID: install.id, generation: install.generation)
        _ = try await DeliveryRepository(client).insertPending([delivery])
        try await NotificationRepository(client).markAddressed([notification.id: 1])
        for table in ["notifications", "deliveries"] {
            let query: PostgresQuery = """
                UPDATE \(unescaped: table) SET created_at = now() - make_interval(secs => \(age / .seconds(1)))
                """
            try await client.execute(query)
        }
        return (notification.id, delivery.id)
    }

    private func deferUnsent(_ client: PostgresClient) async throws -> Int {
        try await DeliveryRepository(client).deferUnsent(for: .zero, code: "event_missing", limit: 10)
    }

    @Test func `a delivery whose event does not arrive for five minutes is made due once`() async throws {
        try await withStorage { client in
            let id = try await address(age: .seconds(301), on: client).deliveryID
            #expect(try await deferUnsent(client) == 1)
            #expect(try await deferUnsent(client) == 0)
            let due = try await DeliveryRepository(client).claimDue(lane: .urgent, limit: 10, lease: .seconds(60))
            #expect(due.map(\.id) == [id] && due.first?.attempt == 1 && due.first?.mayHaveArrived == false)
            #expect(try await deferUnsent(client) == 0)
        }
    }

    @Test func `a delivery whose event may still arrive is left alone`() async throws {
        try await withStorage { client in
            _ = try await address(age: .seconds(290), on: client)
            #expect(try await deferUnsent(client) == 0)
        }
    }

    @Test func `a claimed delivery is left to its sender, and then to the takeover of its lease`() async throws {
        try await withStorage { client in
            let (notificationID, id) = try await address(age: .seconds(600), on: client)
            let deliveries = DeliveryRepository(client)
            _ = try await deliveries.claim([id], of: notificationID, as: UUID(), lane: .urgent, lease: .zero)
            #expect(try await deferUnsent(client) == 0)
            #expect(try await deliveries.claimDue(lane: .urgent, limit: 10, lease: .seconds(60)).map(\.attempt) == [2])
        }
    }

    @Test func `a late event finds nothing to send, and a concurrent sender's settlement stands`() async throws {
        try await withStorage { client in
            let (notificationID, id) = try await address(age: .seconds(600), on: client)
            let deliveries = DeliveryRepository(client)
            // A sender that claims at the same time: the deferral does not see its lease.
            _ = try await deliveries.claim([id], of: notificationID, as: UUID(), lane: .urgent, lease: .seconds(60))
            let leases: PostgresQuery = "DELETE FROM push_leases"
            try await client.execute(leases)
            #expect(try await deliveries.deferUnsent(for: .seconds(70), code: "event_missing", limit: 10) == 1)
            #expect(
                try await deliveries.claim([id], of: notificationID, as: UUID(), lane: .urgent, lease: .seconds(60)).isEmpty)
            let accepted = DeliverySettlement(id: id, outcome: .accepted, fcmName: "n", attempt: 1)
            #expect(try await client.withTransaction { try await DeliveryRepository($0).settle([accepted]) } == [id])
            let ended = try await deliveries.find(ids: [id]).first
            #expect(ended?.state == .accepted && ended?.dueAt == nil)
        }
    }
}
