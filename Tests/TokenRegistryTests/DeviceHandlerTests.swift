import EventBus
import FoundationEssentials
import PostgresClient
import Storage
import Testing
import WireFormat

@testable import TokenRegistry

struct DeviceHandlerTests {
    @Test func `deferred pushes of a removed installation are withdrawn, once`() async throws {
        try await Registry.run { registry in
            let user = try await registry.makeUser(tokens: "a:1", "b:1")
            let request = NotificationRequested.make(.user(user), kind: .jobCompleted)
            try await registry.request(request)
            try await registry.deferDeliveries(of: request)
            _ = try await registry.takeOutbox()
            let removed = try #require(try await registry.install("a:1"))
            let installs = PushInstallRepository(registry.client)
            #expect(try await installs.unregister(installationKey: registry.key("a:1"), userID: user) == removed.id)

            for _ in 0..<2 {
                try await registry.client.withTransaction { transaction in
                    try await DeviceRemovedHandler(logger: registry.logger)
                        .handle([Envelope(DeviceRemoved(installationID: removed.id))], in: transaction)
                }
            }
            let deliveries = try await DeliveryRepository(registry.client).find(notificationID: request.notificationID)
            let withdrawn = deliveries.filter { $0.state == .skipped }
            #expect(withdrawn.map(\.installID) == [removed.id])
            #expect(withdrawn.map(\.code) == [DeviceRemovedHandler.withdrawalCode])
            #expect(deliveries.count { $0.state == .pending } == 1)
            let events = try await registry.takeOutbox().map { try $0.envelope.decode(NotificationSettled.self).body }
            #expect(events.map { $0.outcomes.map(\.outcome) } == [[.skipped]])
        }
    }

    @Test func `an installation that registered again in the meantime keeps its pushes`() async throws {
        try await Registry.run { registry in
            let user = try await registry.makeUser(tokens: "a:1")
            let request = NotificationRequested.make(.user(user), kind: .jobCompleted)
            try await registry.request(request)
            try await registry.deferDeliveries(of: request)
            let install = try #require(try await registry.install("a:1"))
            try await registry.client.withTransaction { transaction in
                try await DeviceRemovedHandler(logger: registry.logger)
                    .handle([Envelope(DeviceRemoved(installationID: install.id))], in: transaction)
            }
            let deliveries = try await DeliveryRepository(registry.client).find(notificationID: request.notificationID)
            #expect(deliveries.map(\.state) == [.pending])
        }
    }
}
