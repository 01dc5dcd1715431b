public import FoundationEssentials
internal import PostgresClient
public import WireFormat

/// A photo of an event: a row of `topic_photos`.
public struct TopicPhoto: Sendable, Equatable {
    /// Where a photo is: `pending → ready | failed`.
    public enum State: String, Sendable, CaseIterable {
        case pending, ready, failed
    }

    /// The public id.
    public let id: UUID
    /// The topic it is in; nil when that is gone.
    public let topicID: UUID?
    /// Who added it.
    public let uploaderID: UUID
    /// Where it is.
    public let state: State
    /// The blob of the photo as it was uploaded.
    public let photoKey: String
    /// The blob of its thumbnail, once it is ready.
    public let thumbnailKey: String?
    /// When it was added.
    public let createdAt: Date
    /// When its files are deleted.
    public let expiresAt: Date

    init(row: PostgresRow) throws(PostgresError) {
        id = try row.decode("id")
        topicID = try row.decode("topic_id")
        uploaderID = try row.decode("uploader_id")
        state = try row.decodeCase("state")
        photoKey = try row.decode("photo_key")
        thumbnailKey = try row.decode("thumbnail_key")
        createdAt = try row.decode("created_at")
        expiresAt = try row.decode("expires_at")
    }
}

/// A photo to insert; it starts as `pending`.
public struct NewTopicPhoto: Sendable {
    /// How long a photo is kept unless something else is set: 30 days.
    public static let defaultLifetime: Duration = .seconds(30 * 24 * 60 * 60)

    /// The public id.
    public var id: UUID
    /// The topic it is added to.
    public var topic: TopicName
    /// Who adds it; has to be in the topic.
    public var uploaderID: UUID
    /// Where it is stored.
    public var photoKey: String
    /// Bytes of the photo.
    public var byteCount: Int
    /// How long it is kept, from now.
    public var lifetime: Duration

    /// Describes a photo that has just been uploaded.
    public init(
        id: UUID = UUID(), topic: TopicName, uploaderID: UUID, photoKey: String, byteCount: Int = 0,
        lifetime: Duration = Self.defaultLifetime
    ) {
        self.id = id
        self.topic = topic
        self.uploaderID = uploaderID
        self.photoKey = photoKey
        self.byteCount = byteCount
        self.lifetime = lifetime
    }
}

/// The photos of a topic that one push tells of: a row of `topic_photo_windows`, once it is closed.
public struct TopicPhotoWindow: Sendable, Equatable {
    /// The id, which is the push's.
    public let id: UUID
    /// The topic's id; its name may be another's by the time of the push.
    public let topicID: UUID
    /// The topic.
    public let topic: TopicName
    /// How many are in the topic.
    public let memberCount: Int
    /// Who added all of the photos; nil when it was more than one.
    public let uploaderID: UUID?
    /// The thumbnail of the newest.
    public let thumbnailKey: String
    /// How many photos there are.
    public let photoCount: Int
    /// The request that added the first.
    public let requestID: String?
    /// The trace it belongs to.
    public let traceparent: String?

    init(row: PostgresRow) throws(PostgresError) {
        id = try row.decode("id")
        topicID = try row.decode("topic_id")
        topic = try row.decodeTopicName("name")
        memberCount = try row.decode("member_count")
        uploaderID = try row.decode("uploader_id")
        thumbnailKey = try row.decode("thumbnail_key")
        photoCount = try row.decode("photo_count")
        requestID = try row.decode("request_id")
        traceparent = try row.decode("traceparent")
    }
}
