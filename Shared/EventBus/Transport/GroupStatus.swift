/// How a group stands with its stream.
public struct GroupStatus: Sendable {
    /// A consumer of the group.
    public struct Consumer: Sendable {
        public let name: String
        public let pending: Int
        /// How long ago it was given something, or settled or kept something.
        public let idle: Duration
    }

    /// Entries in the stream, settled ones that were not trimmed yet included.
    public var length = 0
    /// Entries that were ever appended to the stream, retries included; the difference of two looks is a rate.
    public var appended = 0
    /// Entries that no consumer of the group was given; counted up to ``maxUndelivered``.
    public var undelivered = 0
    /// How long ago the oldest of them was appended.
    public var oldestUndeliveredAge: Duration?
    /// Entries that consumers were given and have not settled.
    public var pending = 0
    /// How long ago the oldest of them was appended.
    public var oldestPendingAge: Duration?
    /// Entries that wait for their retry.
    public var retrying = 0
    /// Dead letters.
    public var dead = 0
    /// How long ago the oldest of them was given up.
    public var oldestDeadAge: Duration?
    public var consumers: [Consumer] = []

    /// As far as undelivered entries are counted where the server cannot tell their number.
    public static let maxUndelivered = 1000

    public init() {}
}

extension EventTransport {
    /// How many entries the group was given and has not settled.
    public func pendingCount(of group: StreamGroup) async throws(EventBusError) -> Int {
        try await status(of: group).pending
    }
}
