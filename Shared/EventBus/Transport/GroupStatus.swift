/// The backlog and the consumers of a group.
public struct GroupStatus: Sendable {
    /// A consumer of the group.
    public struct Consumer: Sendable {
        public let name: String
        public let pending: Int
        /// The time since it last read, claimed or renewed an entry.
        public let idle: Duration
    }

    /// Entries in the stream, settled ones that were not trimmed yet included.
    public var length = 0
    /// Entries that were ever appended to the stream, retries included; the difference of two readings is a rate.
    public var appended = 0
    /// Entries that were not delivered to any consumer of the group; counted up to ``maxUndelivered``.
    public var undelivered = 0
    /// The age of the oldest of them, since it was appended.
    public var oldestUndeliveredAge: Duration?
    /// Entries that were delivered to consumers and are not settled.
    public var pending = 0
    /// The age of the oldest of them, since it was appended.
    public var oldestPendingAge: Duration?
    /// Entries that wait for their retry.
    public var retrying = 0
    /// Dead letters.
    public var dead = 0
    /// The age of the oldest of them, since it was dead-lettered.
    public var oldestDeadAge: Duration?
    public var consumers: [Consumer] = []

    /// The count at which undelivered entries are no longer counted, where the server does not know their number.
    public static let maxUndelivered = 1000

    public init() {}
}

extension EventTransport {
    /// Returns the number of entries that were delivered to the group and not settled.
    public func pendingCount(of group: StreamGroup) async throws(EventBusError) -> Int {
        try await status(of: group).pending
    }
}
