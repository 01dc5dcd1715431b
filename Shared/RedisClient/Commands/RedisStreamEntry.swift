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

/// What a read found in one stream.
public struct RedisStreamBatch: Sendable {
    /// The stream's key.
    public let stream: String
    public let entries: [RedisStreamEntry]
    /// Entries that were delivered to this consumer before and have since been deleted: only reads of the consumer's own
    /// history find them.
    public let deleted: [RedisStreamID]
}

/// What a claim took over.
public struct RedisAutoclaim: Sendable {
    /// Where to go on; ``RedisStreamID/zero`` when the scan has come to the end. A claim that took nothing may have more to
    /// scan.
    public let cursor: RedisStreamID
    public let entries: [RedisStreamEntry]
    /// Entries that were pending and do not exist any more; the server forgot that they were pending.
    public let deleted: [RedisStreamID]
}

/// One delivered and not yet acknowledged entry.
public struct RedisPendingEntry: Sendable {
    public let id: RedisStreamID
    public let consumer: String
    /// The time since the last delivery.
    public let idle: Duration
    /// How often it was delivered.
    public let deliveries: Int
}

/// What a consumer group has delivered and not had acknowledged.
public struct RedisPendingSummary: Sendable {
    public let count: Int
    /// The first and the last pending entry; `nil` when there is none.
    public let range: ClosedRange<RedisStreamID>?
    /// How many entries are pending for each consumer that has any.
    public let consumers: [String: Int]
}

/// What the server tells of a consumer group.
public struct RedisGroupInfo: Sendable {
    public let name: String
    public let consumers: Int
    public let pending: Int
    public let lastDelivered: RedisStreamID
    /// How many entries the group has not been given; `nil` when the server cannot tell. Wrong in Redis 7.0 after a trim that
    /// passed entries the group had not read.
    public let lag: Int?
}

/// Where a consumer group begins.
public enum RedisGroupStart: Sendable {
    /// With the first entry there is.
    case beginning
    /// With what is added from now on.
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

/// From where a read without a group goes on.
public enum RedisReadStart: Sendable {
    /// With what is added after the command has reached the server; for blocking reads.
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
