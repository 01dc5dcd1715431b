import Accounts
import EventBus
import FoundationEssentials
import PostgresClient
import Push
import TestSupport
import Testing
import WireFormat

@testable import TokenRegistry

struct OverdueNotificationsTests {
    private func sweep(_ registry: Registry) async throws -> Int {
        try await OverdueNotifications(postgres: registry.service, logger: registry.logger).settle()
    }

    private func expire(_ request: NotificationRequested, in registry: Registry) async throws {
        try await registry.client.execute(
            "UPDATE notifications SET expires_at = now() - interval '6 minutes' WHERE id = \(request.notificationID)")
    }

    @Test func `an expired notification that was never sent is settled with its deliveries, and a failed session's installation deleted`()
        async throws
    {
        try await Registry.run { registry in
            let session = try await registry.makeSession(token: "c0:token", outcome: .failed(.noMatch))
            let request = NotificationRequested.make(.session(session))
            try await registry.request(request)
            #expect(try await sweep(registry) == 0, "its time is not over")
            try await expire(request, in: registry)
            #expect(try await sweep(registry) == 1)
            let deliveries = try await DeliveryRepository(registry.client).find(notificationID: request.notificationID)
            #expect(deliveries.map(\.state) == [.expired])
            #expect(deliveries.map(\.code) == [DeliveryCode.neverSent.rawValue])
            #expect(try await registry.notification(request)?.state == .settled)
            #expect(try await registry.install("c0:token") == nil)
            #expect(try await sweep(registry) == 0)
        }
    }

    @Test func `a delivery leased by a sender is not expired`() async throws {
        try await Registry.run { registry in
            let request = NotificationRequested.make(.session(try await registry.makeSession(token: "c0:token")))
            try await registry.request(request)
            let deliveries = DeliveryRepository(registry.client)
            let ids = try await deliveries.find(notificationID: request.notificationID).map(\.id)
            _ = try await deliveries.claim(ids)
            try await expire(request, in: registry)
            #expect(try await sweep(registry) == 0)
            try await deliveries.settle(ids.map { DeliverySettlement(id: $0, outcome: .accepted) })
            #expect(try await sweep(registry) == 1, "the event about its outcome was lost")
            #expect(try await deliveries.find(ids: ids).map(\.state) == [.accepted])
            #expect(try await registry.notification(request)?.state == .settled)
        }
    }
}
