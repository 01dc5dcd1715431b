/// The body of a message on the bus: an event, which carries ids rather than data.
///
/// Within a version only optional fields may be added. A breaking change is a new ``version``; consumers refuse a version that
/// they do not know instead of guessing.
public protocol Event: BodyObject, Equatable {
    /// The name of this kind of event.
    static var type: EventType { get }

    /// The version of the schema, from 1.
    static var version: Int { get }

    /// The names of every stream that carries this event; one, named after the type, unless the event has lanes.
    static var streams: [String] { get }

    /// The consumer groups that have to handle every event of this kind, by convention named after their services. Until all of them have
    /// handled it, the event is published again when it is lost. Empty for an event that is only broadcast.
    static var groups: [String] { get }

    /// The id of the event's subject; events of one key are published in order.
    var key: String { get }

    /// The name of the stream that carries this event.
    var stream: String { get }
}

extension Event {
    /// Version 1, the version of every event whose schema has had no breaking change.
    public static var version: Int { 1 }
    /// The one stream that is named after the type.
    public static var streams: [String] { [type.rawValue] }
    /// The stream that is named after the type; an event with lanes has its own implementation.
    public var stream: String { Self.type.rawValue }
}

/// All events of the system, for tools that iterate over all streams.
public enum EventCatalog {
    /// The body types, in the order of the data flow.
    public static let events: [any Event.Type] = [
        EkycRequested.self, EkycCompleted.self, MailRequested.self, ImageRequested.self, PhotoUploaded.self,
        ImageProgress.self, ImageCompleted.self, NotificationRequested.self, NotificationAddressed.self,
        NotificationSettled.self, UserErased.self,
    ]

    /// The names of all streams, in the order of ``events``.
    public static let streams: [String] = events.flatMap { $0.streams }

    /// The groups that have to handle the events of a stream; empty for a stream that is only broadcast.
    public static let groupsByStream: [String: [String]] = Dictionary(
        uniqueKeysWithValues: events.flatMap { event in event.streams.map { ($0, event.groups) } })

    /// The service that reads these streams without a group, to wake its waiting requests.
    public static let broadcastReader = "identity-api"

    /// The streams that a service reads, in the order of ``events``.
    public static func streams(readBy service: String) -> [String] {
        streams.filter { stream in
            let groups = groupsByStream[stream] ?? []
            return groups.isEmpty ? service == broadcastReader : groups.contains(service)
        }
    }
}
