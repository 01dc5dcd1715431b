public import FoundationEssentials
public import JSON
public import WireFormat

/// A topic has new photos, those of some seconds together.
public struct NewPhotosPush: PushAboutThing {
    /// `new_photos`.
    public static var kind: NotificationKind { .newPhotos }
    /// `photos`, followed by the id of the window in which the photos were collected.
    public static var keyPrefix: String { "photos" }
    /// `event_photos`.
    public static var channelID: String? { "event_photos" }
    /// The photos are unseen.
    public static var hasBadge: Bool { true }
    /// One: all pushes about a topic's photos say the same.
    public static var newestKept: Int? { 1 }
    /// The time after which the push expires, in seconds.
    private static let lifetime: TimeInterval = 24 * 60 * 60
    /// Pushes to topics with more members than this go in the lane `bulk`.
    private static let maxNormalLaneMembers = 100

    /// The name of the topic.
    public var topic: TopicName
    /// The topic's own id.
    public var topicID: UUID
    /// The user who has added the photo that is shown.
    public var senderID: UUID
    /// The key of that photo's thumbnail in the blob store; nil without one.
    public var thumbnailKey: String?

    /// Describes the new photos.
    public init(topic: TopicName, topicID: UUID, senderID: UUID, thumbnailKey: String?) {
        self.topic = topic
        self.topicID = topicID
        self.senderID = senderID
        self.thumbnailKey = thumbnailKey
    }

    /// Makes the request for the push to the members. Publish it in the transaction that closes the window.
    ///
    /// - Parameters:
    ///   - windowID: The window in which the photos were collected.
    ///   - userID: The user who has added all of them, who gets no push; nil when several users have.
    ///   - memberCount: The number of members, by which the lane is chosen.
    public func request(of windowID: UUID, except userID: UUID?, memberCount: Int) -> NotificationRequested {
        NotificationRequested(
            dedupeKey: Self.dedupeKey(about: windowID), content: content, recipient: .topic(topic),
            lane: memberCount > Self.maxNormalLaneMembers ? .bulk : .normal, exceptUserID: userID,
            expiresAt: Date(timeIntervalSinceNow: Self.lifetime))
    }

    /// `PushContent.newPhotos`.
    public var content: PushContent { .newPhotos(self) }
    /// The event.
    public var subject: String? { "event:\(topic.id)" }
    /// The topic and the sender.
    public var references: PushReferences { PushReferences(topicID: topicID, senderID: senderID) }
    /// Whether it has a thumbnail.
    public var hasPicture: Bool { thumbnailKey != nil }

    /// Reads `sender_id`, `topic`, `topic_id` and, if present, `thumbnail`.
    public init(from body: BodyReader) throws(BodyFault) {
        senderID = try body.read("sender_id")
        thumbnailKey = try body.readIfPresent("thumbnail")
        topic = try body.read("topic")
        topicID = try body.read("topic_id")
    }

    /// Writes `sender_id`, `thumbnail`, `topic` and `topic_id`.
    public func writeMembers(to body: inout JSONWriter) {
        body.member("sender_id", senderID)
        body.member("thumbnail", thumbnailKey)
        body.member("topic", topic)
        body.member("topic_id", topicID)
    }
}
