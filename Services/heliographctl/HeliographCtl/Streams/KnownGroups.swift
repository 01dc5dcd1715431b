internal import EventBus
internal import WireFormat

/// The groups of the system, which commands walk over.
enum KnownGroups {
    /// The streams in the order in which data flows, each with the groups that have to handle what it carries.
    static let all: [(stream: String, groups: [StreamGroup])] = EventCatalog.streams.map { stream in
        (stream, (EventCatalog.groupsByStream[stream] ?? []).map { StreamGroup(stream: stream, name: $0) })
    }
}
