/// A consumer group of a stream.
public struct StreamGroup: Sendable, Hashable {
    public let stream: String
    public let name: String

    public init(stream: String, name: String) {
        self.stream = stream
        self.name = name
    }
}

/// A consumer of a group; the entries delivered to it are pending under its name.
public struct GroupConsumer: Sendable, Hashable {
    public let group: StreamGroup
    /// The name; unique for each start of a process, so that two processes never share pending entries.
    public let name: String

    public init(group: StreamGroup, name: String) {
        self.group = group
        self.name = name
    }

    /// The name under which released entries are pending.
    static let released = "released"
}
