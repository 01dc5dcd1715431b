/// A consumer group of a stream.
public struct StreamGroup: Sendable, Hashable {
    /// The name of the stream, without the transport's prefix.
    public let stream: String
    /// The name of the group; by convention, the name of the service.
    public let name: String

    /// Names a group of a stream; the group need not exist.
    public init(stream: String, name: String) {
        self.stream = stream
        self.name = name
    }
}

/// A consumer of a group; the entries delivered to it are pending under its name.
public struct GroupConsumer: Sendable, Hashable {
    /// The group that the consumer belongs to.
    public let group: StreamGroup
    /// The name; unique for each start of a process, so that two processes never share pending entries.
    public let name: String

    /// Names a consumer of a group; `name` must never have been used by another process.
    public init(group: StreamGroup, name: String) {
        self.group = group
        self.name = name
    }

    /// The name under which released entries are pending.
    static let released = "released"
}
