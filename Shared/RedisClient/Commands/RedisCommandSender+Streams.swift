/// Commands on streams. See the documentation of Redis for the details of each command.
extension RedisCommandSender {
    /// Appends an entry and returns its id.
    @discardableResult
    public func xadd(_ stream: String, fields: [(name: String, value: [UInt8])]) async throws(RedisError) -> RedisStreamID {
        let reply = try await send(.xadd(stream, fields: fields))
        guard let id = RedisStreamID(reply) else { throw RedisError.unexpected(reply, "a stream id") }
        return id
    }

    /// Reads entries in order, starting with `first`.
    public func xrange(
        _ stream: String, from first: RedisStreamID = .zero, count: Int
    ) async throws(RedisError) -> [RedisStreamEntry] {
        try RedisStreamEntry.decodeEntries(try await send(RedisCommand("XRANGE", stream, first, "+", "COUNT", count)))
    }

    /// Creates a consumer group, and the stream if there is none; false when there is such a group already.
    @discardableResult
    public func xgroupCreate(
        _ stream: String, group: String, from start: RedisGroupStart = .beginning
    ) async throws(RedisError) -> Bool {
        do throws(RedisError) {
            _ = try await send(RedisCommand("XGROUP", "CREATE", stream, group, start.argument, "MKSTREAM"))
            return true
        } catch {
            guard error.code == .server(.busyGroup) else { throw error }
            return false
        }
    }
}
