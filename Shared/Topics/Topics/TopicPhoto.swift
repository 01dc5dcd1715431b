public import FoundationEssentials
internal import PostgresClient
public import WireFormat

/// A photo of an event: a row of `topic_photos`.
public struct TopicPhoto: Sendable, Equatable {
    /// The state of a photo: `pending → ready | failed`.
    public enum State: String, Sendable, CaseIterable {
        case pending, ready, failed
    }

    /// The public id.
    public let id: UUID
    /// The topic; nil when it is deleted.
    public let topicID: UUID?
    /// The user who added it.
    public let uploaderID: UUID
    /// The state.
    public let state: State
    /// The key of the uploaded photo in the blob store.
    public let photoKey: String
    /// The key of its thumbnail, once it is ready.
    public let thumbnailKey: String?
    /// When it was added.
    public let createdAt: Date
    /// When its blobs are deleted.
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
    /// The default time for which a photo is kept: 30 days.
    public static let defaultLifetime: Duration = .seconds(30 * 24 * 60 * 60)

    /// The public id.
    public var id: UUID
    /// The topic it is added to.
    public var topic: TopicName
    /// The user who adds it; must be a member of the topic.
    public var uploaderID: UUID
    /// The key of the uploaded photo in the blob store.
    public var photoKey: String
    /// The size of the photo in bytes.
    public var byteCount: Int
    /// The time for which it is kept, from now.
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

/// The photos of a topic that share one push: a closed row of `topic_photo_windows`.
public struct TopicPhotoWindow: Sendable, Equatable {
    /// The id, which is also the notification's.
    public let id: UUID
    /// The topic's id; at the time of the push, its name may belong to another topic.
    public let topicID: UUID
    /// The topic's name.
    public let topic: TopicName
    /// The number of members of the topic.
    public let memberCount: Int
    /// The user who added all of the photos; nil when there are several.
    public let uploaderID: UUID?
    /// The uploader of the newest photo.
    public let senderID: UUID
    /// The key of the newest photo's thumbnail.
    public let thumbnailKey: String
    /// The number of photos.
    public let photoCount: Int
    /// The request that added the first photo.
    public let requestID: String?
    /// The trace it belongs to.
    public let traceparent: String?

    init(row: PostgresRow) throws(PostgresError) {
        id = try row.decode("id")
        topicID = try row.decode("topic_id")
        topic = try row.decodeTopicName("name")
        memberCount = try row.decode("member_count")
        uploaderID = try row.decode("uploader_id")
        senderID = try row.decode("sender_id")
        thumbnailKey = try row.decode("thumbnail_key")
        photoCount = try row.decode("photo_count")
        requestID = try row.decode("request_id")
        traceparent = try row.decode("traceparent")
    }
}
