/// Commands on the server itself.
extension RedisCommandSender {
    /// Sends `PING`; throws when the server does not answer.
    public func ping(timeout: Duration? = nil) async throws(RedisError) {
        _ = try await send(RedisCommand("PING"), timeout: timeout)
    }
}
