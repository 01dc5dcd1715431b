public import FoundationEssentials

/// A photo was added to a topic and needs its thumbnail.
public struct PhotoUploaded: Event {
    public static var type: EventType { .photoUploaded }
    public static var groups: [String] { ["image-worker"] }

    @WireUUID public var photoID: UUID
    /// The topic the photo was added to, such as `event:42`.
    public var topic: String

    public var key: String { topic }

    public init(photoID: UUID, topic: String) {
        self.photoID = photoID
        self.topic = topic
    }

    enum CodingKeys: String, CodingKey {
        case photoID = "photo_id"
        case topic
    }
}
