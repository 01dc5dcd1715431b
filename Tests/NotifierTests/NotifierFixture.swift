import Accounts
import AsyncPrimitives
import EventBus
import FCMEmulator
import Foundation
import HeliographCrypto
import Logging
import Notifier
import PostgresClient
import Push
import RedisClient
import ServiceDefaults
import ServiceLifecycle
import TestSupport
import WireFormat

@testable import Schema

/// A notifier as it is deployed, with a database, a key prefix and an emulator of its own.
struct NotifierFixture: Sendable {
    let emulator: FCMEmulator
    let postgres: PostgresClient
    let context: ServiceContext
    let transport: RedisEventTransport
    let sealer: Sealer

    /// The folder with the key files of all tests, which share them because generating RSA keys takes long.
    private static let keyFiles = Task {
        let directory = try TemporaryDirectory()
        let emulator = FCMEmulator(configuration: FCMEmulatorConfiguration(directory: directory.path))
        try await emulator.start()
        await emulator.stop()
        return directory
    }

    static let quiet: Logger = {
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        return logger
    }()

    /// Runs `body` while the notifier runs.
    ///
    /// - Parameter settings: More environment variables; the wait before a retry is a tenth of a second.
    static func with(
        settings: [String: String] = [:], isRunning: Bool = true, logger: Logger = quiet, clock: any MonotonicClock = ContinuousClock(),
        _ body: (NotifierFixture) async throws -> Void
    ) async throws {
        let directory = try TemporaryDirectory()
        let emulator = FCMEmulator(configuration: FCMEmulatorConfiguration(directory: try await keyFiles.value.path))
        try await emulator.start()
        let redis = try await RedisServer.shared()
        try await withMigratedDatabase { database in
            let url = emulator.tlsURL ?? ""
            let environment = [
                "DATABASE_URL": database.connecting(as: ServiceRole.notifier.name()).url, "REDIS_URL": redis.url,
                "REDIS_KEY_PREFIX": RedisServer.uniquePrefix(),
                "FCM_BASE_URL": url, "FCM_TOKEN_URL": url + "/token",
                "FCM_CA_FILE": emulator.configuration.certificateFile,
                "GOOGLE_APPLICATION_CREDENTIALS": emulator.configuration.serviceAccountFile,
                "NOTIFY_RETRY_SECONDS": "0.1", "ADMIN_PORT": "0", "PUBLIC_URL": "https://api.example.org",
                "MEDIA_LINK_KEY": Base64.encode(SecureRandom.bytes(32)), "BLOB_STORE_PATH": directory.path,
            ].merging(TestKeys.settings()) { $1 }.merging(settings) { $1 }
            let context = try ServiceContext(
                name: "notifier", settings: Settings(environment: environment), logger: logger, clock: clock)
            let postgres = try PostgresClient(configuration: PostgresConfiguration(url: database.url), logger: quiet)
            _ = try await MigrationRunner(client: postgres, migrations: HeliographSchema.migrations).migrate()
            let fixture = try NotifierFixture(
                emulator: emulator, postgres: postgres, context: context, transport: context.transport,
                sealer: context.sealer(.tokens))
            let result = await Result.catching {
                if isRunning { try await fixture.withNotifier { try await body(fixture) } } else { try await body(fixture) }
            }
            await context.postgres.shutdown()
            await context.redis.shutdown()
            await postgres.shutdown()
            try result.get()
        }
        await emulator.stop()
    }

    /// Runs a notifier with the fixture's context while `body` runs.
    func withNotifier(_ body: () async throws -> Void) async throws {
        let services = try await Notifier.build(context)
        let relay = OutboxRelay(transport: transport, postgres: postgres, logger: Self.quiet)
        let group = ServiceGroup(services: [relay] + services, logger: Self.quiet)
        let task = Task { try await group.run() }
        let result = await Result.catching { try await body() }
        await group.triggerGracefulShutdown()
        _ = await task.result
        try result.get()
    }

    // MARK: Steps of token-registry

    /// The trace of all notifications of a fixture.
    static let traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

    /// An addressed notification with one delivery for each token.
    struct Addressed: Sendable {
        let notificationID: UUID
        let pageIDs: [UUID]
        let deliveryIDs: [UUID]
    }

    /// Writes the rows and publishes the event, as token-registry does.
    func address(
        _ tokens: [String], of user: UUID? = nil, content: PushContent = .sample(.signIn), id: UUID? = nil,
        platform: String? = nil, expiresIn seconds: Double = 600, lane: Lane = .urgent
    ) async throws -> Addressed {
        let session = UUIDv7.generate()
        let notificationID = id ?? UUIDv7.generate()
        let pages = try await postgres.withTransaction { transaction in
            _ = try await NotificationRepository(transaction).insert(
                NewNotification(
                    id: notificationID, dedupeKey: "ekyc:\(session.wireString)", content: content,
                    recipient: user.map(NotificationRecipient.user) ?? .session(session),
                    lane: lane, requestID: "req-1", traceparent: Self.traceparent, expiresAt: Date(timeIntervalSinceNow: seconds)))
            var installs: [PushInstall] = []
            for token in tokens {
                let (repository, registration) = (PushInstallRepository(transaction), try registration(token, platform: platform))
                if let user {
                    installs.append(try await repository.register(registration, userID: user).install)
                } else {
                    installs.append(try await repository.registerUnbound(registration))
                }
            }
            let pages = NewDeliveryPage.pages(of: notificationID, on: lane, to: installs.map(\.address))
            try await DeliveryPageRepository(transaction).insert(pages)
            for page in pages {
                try await OutboxRepository(transaction).publish(
                    NotificationAddressed(
                        notificationID: notificationID, pageID: page.id, count: page.addresses.count, lane: lane),
                    requestID: "req-1", traceparent: Self.traceparent)
            }
            return pages
        }
        return Addressed(
            notificationID: notificationID, pageIDs: pages.map(\.id),
            deliveryIDs: pages.flatMap { page in (1...page.addresses.count).map { DeliveryPage.deliveryID($0, of: page.id) } })
    }

    private func registration(_ token: String, platform: String?) throws -> PushRegistration {
        let target = PushTarget(token) ?? .token(token)
        let key = target.installationKey
        return PushRegistration(
            installationKey: key, kind: target.kind,
            valueSealed: try sealer.seal(
                Array(token.utf8), context: PushInstall.sealingContext(installationKey: key)),
            valueHash: target.valueHash, platform: platform)
    }

    // MARK: Outcomes

    func deliveries(_ addressed: Addressed) async throws -> [Delivery] {
        try await DeliveryRepository(postgres).find(ids: addressed.deliveryIDs)
    }

    /// Waits until all deliveries have ended and returns them.
    func settled(_ addressed: Addressed) async throws -> [Delivery] {
        try await eventually("all deliveries have ended") {
            let deliveries = try await deliveries(addressed)
            return deliveries.allSatisfy(\.state.isTerminal) ? deliveries : nil
        }
    }
}

extension Result where Failure == any Error {
    static func catching(_ body: () async throws -> Success) async -> Result {
        do { return .success(try await body()) } catch { return .failure(error) }
    }
}
