internal import EventBus
internal import FoundationEssentials
internal import Logging
internal import PostgresClient
internal import ServiceDefaults
internal import ServiceLifecycle
internal import Storage
internal import WireFormat

/// Closes the windows in which photos gather, and has each topic told once of all of them.
///
/// The window is a row and its end a time in it; closing it and asking for the push are one transaction. So nothing depends on
/// this process living until then, and any number of instances may look.
struct PhotoPushes: Service {
    /// The most windows of one transaction.
    private static let batchSize = 50
    /// How long news of photos is worth a push.
    private static let pushLifetime: TimeInterval = 24 * 60 * 60
    /// Topics with more members than this are told in the lane of mass mailings.
    private static let normalLaneMembersMax = 100

    let postgres: PostgresClient
    var interval: Duration = .milliseconds(500)
    let logger: Logger

    func run() async throws {
        await periodically("pushes about photos", every: interval, logger: logger) {
            while try await publishDue() == Self.batchSize {}
        }
    }

    /// Asks for the pushes that are due.
    ///
    /// - Returns: How many there were.
    @discardableResult
    func publishDue() async throws -> Int {
        try await postgres.withTransaction { transaction in
            let windows = try await TopicPhotoWindowRepository(transaction).closeDue(limit: Self.batchSize)
            for window in windows {
                let push = Self.push(about: window)
                try await OutboxRepository(transaction).publish(
                    push, requestID: window.requestID, traceparent: window.traceparent, expiresAt: push.expiresAt)
            }
            return windows.count
        }
    }

    /// The push: to all but a person who added every one of the photos.
    static func push(about window: TopicPhotoWindow) -> NotificationRequested {
        var parameters = ["event_id": window.topic.id, NotificationParameter.image: window.thumbnailKey]
        parameters[NotificationParameter.topicID] = window.topicID.wireString
        parameters[NotificationParameter.exceptUserID] = window.uploaderID?.wireString
        return NotificationRequested(
            dedupeKey: "photos:\(window.id.wireString)", kind: .newPhotos, recipient: .topic(window.topic),
            lane: window.memberCount > normalLaneMembersMax ? .bulk : .normal, parameters: parameters,
            expiresAt: Date(timeIntervalSinceNow: pushLifetime))
    }
}
