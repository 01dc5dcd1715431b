internal import EventBus
internal import FoundationEssentials
internal import Logging
internal import PostgresClient
internal import Push
internal import ServiceDefaults
internal import WireFormat

/// Publishes the notifications of apps' own servers whose time has come. A row holds the time and the event.
struct DueNotifications: DueRowPublisher {
    static let name = "due notifications"
    static let batchSize = 100

    let postgres: PostgresClient
    var interval: Duration = .seconds(1)
    let logger: Logger

    func publishDue(limit: Int, in transaction: PostgresTransaction) async throws -> Int {
        let due = try await AppNotificationRepository(transaction).takeDue(limit: limit)
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
