/// A consumer group of a stream.
public struct StreamGroup: Sendable, Hashable {
    public let stream: String
    public let name: String

    public init(stream: String, name: String) {
        self.stream = stream
        self.name = name
    }
}

/// One consumer of a group: what it is given is pending under its name.
public struct GroupConsumer: Sendable, Hashable {
    public let group: StreamGroup
    /// Unique for each start of a process, so that two never share what is pending.
    public let name: String

    public init(group: StreamGroup, name: String) {
        self.group = group
        self.name = name
    }

    /// The consumer under whose name entries are pending that were handed back.
    static let handedBack = "handed-back"
}
