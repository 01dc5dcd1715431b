/// Commands on keys, plain values and the server itself.
extension RedisCommandSender {
    /// Sends `PING`; throws when the server does not answer.
    public func ping(timeout: Duration? = nil) async throws(RedisError) {
        _ = try await send(RedisCommand("PING"), timeout: timeout)
    }

    /// Deletes keys and returns how many of them existed.
    @discardableResult
    public func del(_ keys: String...) async throws(RedisError) -> Int {
        try await del(keys)
    }

    /// Deletes keys and returns how many of them existed.
    @discardableResult
    public func del(_ keys: [String]) async throws(RedisError) -> Int {
        if keys.isEmpty { return 0 }
        return try await send(RedisCommand("DEL", arguments: keys)).requireInteger()
    }

    /// Reads a plain value; `nil` when there is no such key.
    public func get(_ key: String) async throws(RedisError) -> [UInt8]? {
        try await send(RedisCommand("GET", key)).bytes
    }

    /// Writes a plain value.
    ///
    /// - Parameters:
    ///   - expiry: The time from now after which the server deletes the value; `nil` keeps it.
    ///   - onlyIfAbsent: Whether to leave an existing value as it is.
    /// - Returns: Whether the value was written.
    @discardableResult
    public func set(
        _ key: String, _ value: [UInt8], expiry: Duration? = nil, onlyIfAbsent: Bool = false
    ) async throws(RedisError) -> Bool {
        var arguments: [any RedisArgument] = [key, value]
        if let expiry { arguments += ["PX", expiry.redisMilliseconds] as [any RedisArgument] }
        if onlyIfAbsent { arguments.append("NX") }
        return try await !send(RedisCommand("SET", arguments: arguments)).isNull
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
