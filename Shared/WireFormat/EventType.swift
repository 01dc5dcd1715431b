/// The name of a kind of event, such as `ekyc.requested`.
///
/// It is the `t` field of a message and, for most events, also the name of the stream that carries it.
public struct EventType: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    public let rawValue: String

    /// Creates a type from its name on the wire; unknown names are kept, so that tools can show them.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    public var description: String { rawValue }
}

extension EventType {
    public static let ekycRequested = EventType(rawValue: "ekyc.requested")
    public static let ekycCompleted = EventType(rawValue: "ekyc.completed")
    public static let imageRequested = EventType(rawValue: "image.requested")
    public static let imageProgress = EventType(rawValue: "image.progress")
    public static let imageCompleted = EventType(rawValue: "image.completed")
    public static let photoUploaded = EventType(rawValue: "photo.uploaded")
    public static let mailRequested = EventType(rawValue: "mail.requested")
    public static let userErased = EventType(rawValue: "user.erased")
    public static let notificationRequested = EventType(rawValue: "notification.requested")
    public static let notificationAddressed = EventType(rawValue: "notification.addressed")
    public static let notificationSettled = EventType(rawValue: "notification.settled")
}
