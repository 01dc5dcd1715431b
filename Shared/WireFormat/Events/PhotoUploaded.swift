public import FoundationEssentials
public import JSON

/// A photo was added to a topic and needs its thumbnail.
public struct PhotoUploaded: Event {
    /// `photo.uploaded`, which is also the name of the stream.
    public static var type: EventType { .photoUploaded }
    /// Only image-worker, which makes the thumbnail and announces the photo.
    public static var groups: [String] { ["image-worker"] }

    /// The photo that was added; `topic_photos.id`.
    public var photoID: UUID
    /// The topic the photo was added to, such as `event:42`.
    public var topic: String

    /// The name of the topic, so that its photos are published in order.
    public var key: String { topic }

    /// Creates the event about a photo; `topic` is the name of the topic, not its id.
    public init(photoID: UUID, topic: String) {
        self.photoID = photoID
        self.topic = topic
    }

    /// Reads `photo_id` and `topic`; throws if one of them is missing.
    public init(from body: BodyReader) throws(BodyFault) {
        photoID = try body.read("photo_id")
        topic = try body.read("topic")
    }

    /// Writes `photo_id` and `topic`.
    public func writeMembers(to body: inout JSONWriter) {
        body.member("photo_id", photoID)
        body.member("topic", topic)
    }
}
