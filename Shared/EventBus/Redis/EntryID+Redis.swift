public import RedisClient

extension EntryID: RedisArgument {
    init(_ id: RedisStreamID) {
        self.init(milliseconds: id.milliseconds, sequence: id.sequence)
    }

    /// Parses the id in a reply; nil when the reply is not an id.
    init?(_ reply: RedisReply) {
        guard let id = RedisStreamID(reply) else { return nil }
        self.init(id)
    }

    var streamID: RedisStreamID { RedisStreamID(milliseconds: milliseconds, sequence: sequence) }

    /// Appends the id as one argument in the form `milliseconds-sequence`.
    public func encode(into encoder: inout RedisCommandEncoder) { encoder.append(streamID) }
}
