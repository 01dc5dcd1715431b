internal import Push
public import WireFormat

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
