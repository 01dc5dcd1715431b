internal import EventBus
internal import FoundationEssentials
internal import Logging
internal import PostgresClient
internal import ServiceDefaults
internal import Storage
internal import WireFormat

/// Closes the windows in which a topic's new photos are collected, and publishes one push for each window. A row of a window holds its end.
struct PhotoPushes: DueRowPublisher {
    static let name = "pushes about photos"
    static let batchSize = 50
    /// Time after which a push about photos expires.
    private static let pushLifetime: TimeInterval = 24 * 60 * 60
    /// Pushes to topics with more members than this go in the lane `bulk`.
    private static let maxNormalLaneMembers = 100

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
        var parameters = ["event_id": window.topic.id, NotificationParameter.image: window.thumbnailKey]
        parameters[NotificationParameter.topicID] = window.topicID.wireString
        parameters[NotificationParameter.exceptUserID] = window.uploaderID?.wireString
        parameters[NotificationParameter.senderID] = window.senderID.wireString
        return NotificationRequested(
            dedupeKey: "photos:\(window.id.wireString)", kind: .newPhotos, recipient: .topic(window.topic),
            lane: window.memberCount > maxNormalLaneMembers ? .bulk : .normal, parameters: parameters,
            expiresAt: Date(timeIntervalSinceNow: pushLifetime))
    }
}
