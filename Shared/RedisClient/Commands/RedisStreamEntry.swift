/// One entry of a stream.
public struct RedisStreamEntry: Sendable {
    public let id: RedisStreamID
    /// In the order in which they were added.
    public let fields: [(name: String, value: [UInt8])]

    public init(id: RedisStreamID, fields: [(name: String, value: [UInt8])]) {
        self.id = id
        self.fields = fields
    }
}

/// The entries that a read found in one stream.
public struct RedisStreamBatch: Sendable {
    /// The stream's key.
    public let stream: String
    public let entries: [RedisStreamEntry]
    /// Entries that were delivered to this consumer before and have since been deleted; only a read of the consumer's own pending
    /// entries returns them.
    public let deleted: [RedisStreamID]
}

/// The result of one `XAUTOCLAIM`.
public struct RedisAutoclaim: Sendable {
    /// The id from which the next call continues; ``RedisStreamID/zero`` when the scan is complete. A call that claimed nothing may
    /// still have more to scan.
    public let cursor: RedisStreamID
    public let entries: [RedisStreamEntry]
    /// Entries that were pending and have been deleted from the stream; the server removed them from the pending entries.
    public let deleted: [RedisStreamID]
}

/// One pending entry.
public struct RedisPendingEntry: Sendable {
    public let id: RedisStreamID
    public let consumer: String
    /// The time since the last delivery.
    public let idle: Duration
    /// The number of deliveries.
    public let deliveries: Int
}

/// A summary of the pending entries of a consumer group.
public struct RedisPendingSummary: Sendable {
    public let count: Int
    /// The first and the last pending entry; `nil` when there is none.
    public let range: ClosedRange<RedisStreamID>?
    /// The number of pending entries of each consumer that has any.
    public let consumers: [String: Int]
}

/// The state of a consumer group, from `XINFO GROUPS`.
public struct RedisGroupInfo: Sendable {
    public let name: String
    public let consumers: Int
    public let pending: Int
    public let lastDelivered: RedisStreamID
    /// The number of entries that have not been delivered to the group; `nil` when the server cannot tell. Wrong in Redis 7.0 after
    /// a trim that removed entries the group had not read.
    public let lag: Int?
}

/// The position at which a consumer group begins.
public enum RedisGroupStart: Sendable {
    /// With the first entry of the stream.
    case beginning
    /// With entries that are added from now on.
    case end
    /// After an entry.
    case after(RedisStreamID)

    var argument: String {
        switch self {
        case .beginning: "0"
        case .end: "$"
        case .after(let id): id.description
        }
    }
}

/// The position at which a read without a group begins.
public enum RedisReadStart: Sendable {
    /// With entries that are added after the command has reached the server; for blocking reads.
    case end
    /// After an entry.
    case after(RedisStreamID)

    var argument: String {
        switch self {
        case .end: "$"
        case .after(let id): id.description
        }
    }
}
