public import FoundationEssentials
public import WireFormat

/// A device's report about a push.
public struct Receipt: Sendable, Equatable {
    /// The reported event.
    public enum Event: String, Sendable, CaseIterable {
        /// The push arrived.
        case delivered
        /// The push was tapped.
        case opened
        /// The push was swiped away.
        case dismissed
        /// The push arrived while the app showed its subject, and was not shown.
        case suppressed
    }

    /// The identification of a push: by its notification id, or by its subject.
    public enum Subject: Sendable, Hashable {
        case notification(UUID)
        /// The app's id of a message, in a conversation that the user is a member of.
        case message(String)
        case imageJob(UUID)
        case session(UUID)
        /// The newest push about an event's photos at the time of the receipt.
        case event(TopicName)
    }

    /// The push.
    public var subject: Subject
    /// The reported event.
    public var event: Event
    /// The time by the device's clock; limited to the time between the push's creation and now.
    public var at: Date

    /// Describes a report.
    public init(subject: Subject, event: Event, at: Date) {
        self.subject = subject
        self.event = event
        self.at = at
    }
}

/// A newly recorded receipt.
public struct RecordedReceipt: Sendable, Equatable {
    /// The kind of the notification.
    public let kind: NotificationKind
    /// Whether the notification has a picture.
    public let hasPicture: Bool
    /// The reported event.
    public let event: Receipt.Event
}
