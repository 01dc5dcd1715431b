internal import EventBus
internal import FoundationEssentials
internal import Logging
internal import PostgresClient
internal import Push
internal import ServiceDefaults
internal import Topics
internal import WireFormat

/// Closes the windows in which a topic's new photos are collected, and publishes one push for each window. A row of a window holds its end.
struct PhotoPushes: DueRowPublisher {
    static let name = "pushes about photos"
    static let batchSize = 50

    let postgres: PostgresClient
    var interval: Duration = .milliseconds(500)
    let logger: Logger

    func publishDue(limit: Int, in transaction: PostgresTransaction) async throws -> Int {
        let windows = try await TopicPhotoWindowRepository(transaction).closeDue(limit: limit)
        for window in windows {
            let push = Self.push(about: window)
            try await OutboxRepository(transaction).publish(
                push, requestID: window.requestID, traceparent: window.traceparent, expiresAt: push.expiresAt)
        }
        return windows.count
    }

    /// Returns the push request; it leaves out a person who added all of the photos.
    static func push(about window: TopicPhotoWindow) -> NotificationRequested {
        NewPhotosPush(
            topic: window.topic, topicID: window.topicID, senderID: window.senderID, thumbnailKey: window.thumbnailKey
        ).request(of: window.id, except: window.uploaderID, memberCount: window.memberCount)
    }
}
