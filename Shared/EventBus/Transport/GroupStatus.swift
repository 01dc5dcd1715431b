/// The status of a group: its backlog and its consumers. Its dead letters are in the database: ``DeadLetterRepository``.
public struct GroupStatus: Sendable {
    /// A consumer of the group.
    public struct Consumer: Sendable {
        /// The name; unique for each start of a process.
        public let name: String
        /// The number of entries that were delivered to the consumer and are not settled.
        public let pending: Int
        /// The time since the consumer last read, claimed or renewed entries, or sent a heartbeat.
        public let idle: Duration
    }

    /// The number of entries in the stream, including settled ones that are not trimmed yet.
    public var length = 0
    /// The number of entries ever appended to the stream, including retries; its increase is the rate of the stream.
    public var appended = 0
    /// The number of entries that were not delivered to the group; at most ``maxUndelivered`` when the server cannot tell it.
    public var undelivered = 0
    /// The time since the oldest undelivered entry was appended.
    public var oldestUndeliveredAge: Duration?
    /// The number of entries that were delivered to consumers and are not settled.
    public var pending = 0
    /// The time since the oldest pending entry was appended.
    public var oldestPendingAge: Duration?
    /// The number of messages that wait for their retry.
    public var retrying = 0
    /// All consumers that the server keeps, also those of dead processes; see ``livingConsumers``.
    public var consumers: [Consumer] = []

    /// The limit for counting undelivered entries when the server cannot tell their number.
    public static let maxUndelivered = 1000

    /// The maximum age of a heartbeat that shows that a consumer lives.
    public static let heartbeatAge: Duration = .seconds(10)

    /// Creates the status of a group that does not exist: zeros, and no consumers.
    public init() {}

    /// The living consumers. Redis keeps the consumers of dead processes until a living consumer of the group removes them.
    public var livingConsumers: [Consumer] { consumers.filter { $0.idle <= Self.heartbeatAge } }
}

extension EventTransport {
    /// Returns the number of entries that were delivered to the group and are not settled.
    public func pendingCount(of group: StreamGroup) async throws(EventBusError) -> Int {
        try await status(of: group).pending
    }
}
