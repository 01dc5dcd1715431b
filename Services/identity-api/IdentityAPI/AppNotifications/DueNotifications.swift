internal import EventBus
internal import FoundationEssentials
internal import Logging
internal import PostgresClient
internal import ServiceDefaults
internal import ServiceLifecycle
internal import Storage
internal import WireFormat

/// Publishes the notifications of apps' own servers whose time has come.
///
/// A row holds the time and the event; taking it and publishing are one transaction. So a notification survives this process, Redis
/// carries it only when it is due, and any number of instances may poll.
struct DueNotifications: Service {
    /// Maximum number of notifications per transaction.
    private static let batchSize = 100

    let postgres: PostgresClient
    var interval: Duration = .seconds(1)
    let logger: Logger

    func run() async throws {
        await periodically("due notifications", every: interval, logger: logger) {
            while try await publishDue() == Self.batchSize {}
        }
    }

    /// Publishes the due notifications of one batch; returns their number.
    @discardableResult
    func publishDue() async throws -> Int {
        try await postgres.withTransaction { transaction in
            let due = try await AppNotificationRepository(transaction).takeDue(limit: Self.batchSize)
            let messages = try due.map { notification in
                let stored = try EncodedEnvelope(
                    id: UUIDv7.generate(), type: NotificationRequested.type, version: NotificationRequested.version, key: "scheduled",
                    occurredAt: Date(), traceparent: notification.traceparent, requestID: notification.requestID,
                    expiresAt: notification.expiresAt, body: notification.request)
                return try NewOutboxMessage(try stored.decode(NotificationRequested.self))
            }
            try await OutboxRepository(transaction).append(messages)
            return due.count
        }
    }
}
