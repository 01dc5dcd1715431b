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
