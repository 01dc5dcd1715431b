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
