import EventBus
import FoundationEssentials
import HeliographCrypto
import Logging
import PostgresClient
import Push
import Schema
import ServiceDefaults
import ServiceLifecycle
import TestSupport
import Testing
import WireFormat

@testable import TokenRegistry

/// The service as it is deployed, on a real Redis and a real Postgres.
struct TokenRegistryServiceTests {
    @Test func `a request in the outbox leads to an addressed event, and its settlement closes the notification`() async throws {
        let redis = try await RedisServer.shared()
        try await withMigratedDatabase { database in
            let role = database.connecting(as: ServiceRole.tokenRegistry.name())
            let context = try ServiceContext(
                name: TokenRegistry.name,
                settings: Settings(environment: [
                    "DATABASE_URL": role.url, "REDIS_URL": redis.url, "REDIS_KEY_PREFIX": RedisServer.uniquePrefix(),
                    "ADMIN_PORT": "0",
                ]),
                logger: Logger(label: "token-registry") { _ in SwiftLogNoOpLogHandler() })
            let group = try await ServiceRunner.group(for: TokenRegistry.self, context: context, signals: [])
            try await withClient(of: database) { owner in
                try await withThrowingTaskGroup(of: Void.self) { tasks in
                    tasks.addTask { try await group.run() }
                    try await journey(owner, service: context.postgres)
                    await group.triggerGracefulShutdown()
                    try await tasks.waitForAll()
                }
            }
        }
    }

    private func journey(_ owner: PostgresClient, service: PostgresClient) async throws {
        let registry = Registry(
            client: owner, service: service, sealer: Sealer(keyRing: try KeyRing(parsing: KeyRing.generateText())))
        let session = try await registry.makeSession(token: "c0:token")
        let request = NotificationRequested.make(.session(session))
        try await OutboxRepository(owner).publish(request)
        let deliveries = DeliveryRepository(owner)
        let delivery = try await eventually("the delivery is there") {
            try await deliveries.find(notificationID: request.notificationID).first
        }
        let published = try await eventually("the addressed message has left the outbox") { () -> Bool? in
            try await OutboxRepository(owner).backlog().waiting == 0 ? true : nil
        }
        #expect(published)

        _ = try await deliveries.claim([delivery.id])
        try await deliveries.settle([DeliverySettlement(id: delivery.id, outcome: .dead, code: "UNREGISTERED")])
        try await OutboxRepository(owner).publish(
            NotificationSettled(
                notificationID: request.notificationID,
                outcomes: [
                    SettledDelivery(
                        deliveryID: delivery.id, installationID: delivery.installID, outcome: .dead, code: "UNREGISTERED")
                ]))
        try await eventually("the notification is closed") {
            try await registry.notification(request)?.state == .settled ? () : nil
        }
        #expect(try await registry.install("c0:token")?.state == .invalid)
    }
}
