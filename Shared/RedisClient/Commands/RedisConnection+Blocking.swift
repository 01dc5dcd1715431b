/// Blocking reads. They are here and not on every ``RedisCommandSender``, because every command that is sent after a blocking read
/// on the same connection waits for it.
extension RedisConnection {
    /// The time after the end of `block` within which the reply must arrive; otherwise the connection counts as dead and is closed.
    static let blockingGrace = Duration.seconds(2)

    /// Delivers new entries to a consumer of a group, waiting up to `block` for the first.
    ///
    /// - Parameters:
    ///   - count: The maximum number of entries of each stream.
    ///   - commands: Sent in the same write, before the read, such as the acknowledgement of the last batch.
    /// - Returns: The streams with new entries, empty when the time ran out; and the replies of `commands`, errors included.
    /// - Throws: ``RedisServerErrorCode/noGroup`` when one of the streams or groups does not exist or is deleted meanwhile,
    ///   ``RedisError/Code/timeout`` when the server has not answered 2 s after the end of `block`; then the connection is closed.
    public func xreadgroup(
        group: String, consumer: String, streams: [String], count: Int, block: Duration,
        after commands: [RedisCommand] = []
    ) async throws(RedisError) -> (batches: [RedisStreamBatch], replies: [RedisReply]) {
        let read = RedisCommand.xreadgroup(group: group, consumer: consumer, streams: streams, count: count, block: block)
        var replies = try await pipeline(commands + [read], timeout: block + Self.blockingGrace)
        let last = replies.removeLast()
        if let error = last.error { throw error }
        return (try RedisStreamBatch.decodeList(last), replies)
    }

    /// Reads the entries after an id of each stream, without a group, waiting up to `block` for the first entry.
    ///
    /// - Returns: The streams with new entries; empty when the time ran out.
    /// - Throws: ``RedisError/Code/timeout`` when the server has not answered 2 s after the end of `block`; then the connection is closed.
    public func xread(
        streams: [(stream: String, after: RedisStreamID)], count: Int, block: Duration
    ) async throws(RedisError) -> [RedisStreamBatch] {
        let command = RedisCommand.xread(streams: streams, count: count, block: block)
        return try RedisStreamBatch.decodeList(try await send(command, timeout: block + Self.blockingGrace))
    }
}
