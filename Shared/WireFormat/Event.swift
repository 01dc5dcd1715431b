/// The body of a message on the bus: what happened, told by ids only.
///
/// Within a version only optional fields may be added. A breaking change is a new ``version``; consumers that do
/// not know it leave the message alone instead of guessing.
public protocol Event: Codable, Sendable, Equatable {
    /// The name of this kind of event.
    static var type: EventType { get }

    /// The version of the schema, from 1.
    static var version: Int { get }

    /// The names of every stream that carries this event; one, named after the type, unless the event has lanes.
    static var streams: [String] { get }

    /// The consumer groups that have to handle every event of this kind, by convention named after their services. Until all
    /// of them have, the event is published again when it is lost. None for what is only broadcast to whoever listens.
    static var groups: [String] { get }

    /// The id of the thing the event is about; events of one key are published in order.
    var key: String { get }

    /// The name of the stream that carries this very event.
    var stream: String { get }
}

extension Event {
    public static var version: Int { 1 }
    public static var streams: [String] { [type.rawValue] }
    public var stream: String { Self.type.rawValue }
}

/// Every event of the system, for tools that walk over all streams.
public enum EventCatalog {
    /// The body types, in the order in which data flows through the system.
    public static let events: [any Event.Type] = [
        EkycRequested.self, EkycCompleted.self, ImageRequested.self, PhotoUploaded.self, ImageProgress.self,
        ImageCompleted.self, DeviceRegistered.self, DeviceRemoved.self, NotificationRequested.self,
        NotificationAddressed.self, NotificationSettled.self, UserErased.self,
    ]

    /// The names of all streams, in the order of ``events``.
    public static let streams: [String] = events.flatMap { $0.streams }

    /// The groups that have to handle what a stream carries; none for a stream that is only broadcast.
    public static let groupsByStream: [String: [String]] = Dictionary(
        uniqueKeysWithValues: events.flatMap { event in event.streams.map { ($0, event.groups) } })
}
