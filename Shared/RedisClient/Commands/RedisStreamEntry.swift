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
