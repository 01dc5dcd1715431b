internal import EventBus
internal import WireFormat

/// The streams and consumer groups of the system.
enum KnownGroups {
    /// The streams in the order of the data flow, each with the groups that handle its events.
    static let all: [(stream: String, groups: [StreamGroup])] = EventCatalog.streams.map { stream in
        (stream, (EventCatalog.groupsByStream[stream] ?? []).map { StreamGroup(stream: stream, name: $0) })
    }
}
