/// Commands on streams. See the documentation of Redis for the details of each command.
extension RedisCommandSender {
    /// Reads entries in order, starting with `first`.
    public func xrange(
        _ stream: String, from first: RedisStreamID = .zero, count: Int
    ) async throws(RedisError) -> [RedisStreamEntry] {
        try RedisStreamEntry.decodeEntries(try await send(RedisCommand("XRANGE", stream, first, "+", "COUNT", count)))
    }

    /// Creates a consumer group that begins with the first entry, and the stream if it does not exist; false when the group exists already.
    @discardableResult
    public func xgroupCreate(_ stream: String, group: String) async throws(RedisError) -> Bool {
        do throws(RedisError) {
            _ = try await send(RedisCommand("XGROUP", "CREATE", stream, group, "0", "MKSTREAM"))
            return true
        } catch {
            guard error.code == .server(.busyGroup) else { throw error }
            return false
        }
    }
}
