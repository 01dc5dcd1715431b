public import FoundationEssentials
public import JSON

/// A photo was added to a topic and needs its thumbnail.
public struct PhotoUploaded: Event {
    public static var type: EventType { .photoUploaded }
    public static var groups: [String] { ["image-worker"] }

    public var photoID: UUID
    /// The topic the photo was added to, such as `event:42`.
    public var topic: String

    public var key: String { topic }

    public init(photoID: UUID, topic: String) {
        self.photoID = photoID
        self.topic = topic
    }

    public init(from body: BodyReader) throws(BodyFault) {
        photoID = try body.read("photo_id")
        topic = try body.read("topic")
    }

    public func writeMembers(to body: inout JSONWriter) {
        body.member("photo_id", photoID)
        body.member("topic", topic)
    }
}
