/// Commands on the server itself.
extension RedisCommandSender {
    /// Sends `PING`; throws when the server does not answer.
    public func ping(timeout: Duration? = nil) async throws(RedisError) {
        _ = try await send(RedisCommand("PING"), timeout: timeout)
    }

    /// Ends the blocking read of another connection as if its time had run out, so that no entry is lost in transit; false when
    /// that connection is not blocked.
    ///
    /// - Parameter clientID: ``RedisConnection/clientID`` of the other connection.
    @discardableResult
    public func unblock(clientID: Int) async throws(RedisError) -> Bool {
        try await send(RedisCommand("CLIENT", "UNBLOCK", clientID)).requireInteger() > 0
    }
}
