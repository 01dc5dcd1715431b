public import FoundationEssentials
public import WireFormat

/// What a device tells of a push.
public struct Receipt: Sendable, Equatable {
    /// What became of it.
    public enum Event: String, Sendable, CaseIterable {
        /// It arrived.
        case delivered
        /// It was tapped.
        case opened
        /// It was swiped away.
        case dismissed
        /// It arrived while the app showed what it tells, and was not shown.
        case suppressed
    }

    /// What a push is called by: its own id, or what it was about.
    public enum Subject: Sendable, Hashable {
        case notification(UUID)
        /// A message of a conversation that the user is in, as the app calls it.
        case message(String)
        case imageJob(UUID)
        case session(UUID)
        /// The newest push about an event's photos at the time.
        case event(TopicName)
    }

    /// The push.
    public var subject: Subject
    /// What became of it.
    public var event: Event
    /// When, by the device's clock; taken for no earlier than the push and no later than now.
    public var at: Date

    /// Describes what a device tells.
    public init(subject: Subject, event: Event, at: Date) {
        self.subject = subject
        self.event = event
        self.at = at
    }
}

/// A receipt that was not known yet.
public struct RecordedReceipt: Sendable, Equatable {
    /// What the push was about.
    public let kind: NotificationKind
    /// Whether it was to have a picture.
    public let hasPicture: Bool
    /// What became of it.
    public let event: Receipt.Event
}
