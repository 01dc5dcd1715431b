/// The name of a kind of event, such as `ekyc.requested`.
///
/// It is the `t` field of a message and, for most events, also the name of the stream that carries it.
public struct EventType: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The dotted name on the wire, in UTF-8 at most ``EnvelopeLimits/maxTypeBytes`` bytes.
    public let rawValue: String

    /// Creates a type from its name on the wire; unknown names are kept, so that tools can show them.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// The name on the wire, as logs and metrics show it.
    public var description: String { rawValue }
}

extension EventType {
    /// Photos of a face wait for face-matching-worker (``EkycRequested``); one stream for each ``EkycLane``.
    public static let ekycRequested = EventType(rawValue: "ekyc.requested")
    /// A face session reached its terminal state (``EkycCompleted``); broadcast to requests that wait.
    public static let ekycCompleted = EventType(rawValue: "ekyc.completed")
    /// A picture was ordered from image-worker (``ImageRequested``); one stream for each ``ImageLane``.
    public static let imageRequested = EventType(rawValue: "image.requested")
    /// An image job made progress (``ImageProgress``); broadcast to requests that wait.
    public static let imageProgress = EventType(rawValue: "image.progress")
    /// An image job reached its terminal state (``ImageCompleted``); broadcast to requests that wait.
    public static let imageCompleted = EventType(rawValue: "image.completed")
    /// A photo of a topic waits for image-worker to make its thumbnail (``PhotoUploaded``).
    public static let photoUploaded = EventType(rawValue: "photo.uploaded")
    /// An e-mail waits for identity-api to send it (``MailRequested``).
    public static let mailRequested = EventType(rawValue: "mail.requested")
    /// Every service has to erase an account or a face (``UserErased``).
    public static let userErased = EventType(rawValue: "user.erased")
    /// A notification waits for token-registry to plan its deliveries (`NotificationRequested` of the module Push).
    public static let notificationRequested = EventType(rawValue: "notification.requested")
    /// A page of deliveries waits for notifier to send it (``NotificationAddressed``); one stream for each ``Lane``.
    public static let notificationAddressed = EventType(rawValue: "notification.addressed")
    /// Deliveries were settled, and token-registry applies their outcomes (``NotificationSettled``).
    public static let notificationSettled = EventType(rawValue: "notification.settled")
}
