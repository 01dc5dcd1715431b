/// Sends commands: the ``RedisClient``, whose callers share a connection, or a ``RedisConnection``.
public protocol RedisCommandSender: Sendable {
    /// Sends a command and returns its reply.
    ///
    /// - Parameter timeout: The time to wait for a connection and for the reply; `nil` means
    ///   ``RedisConfiguration/commandTimeout``.
    /// - Throws: A ``RedisError``; also when the server answers with an error. An error inside an array reply is not thrown.
    func send(_ command: RedisCommand, timeout: Duration?) async throws(RedisError) -> RedisReply

    /// Sends commands in one write and returns their replies in the same order.
    ///
    /// When the server answers a command with an error, the error is not thrown but is in the reply (``RedisReply/error``). The server may
    /// execute commands of other clients in between.
    func pipeline(_ commands: [RedisCommand], timeout: Duration?) async throws(RedisError) -> [RedisReply]
}

extension RedisCommandSender {
    /// Sends a command with the configured time limit and returns its reply.
    public func send(_ command: RedisCommand) async throws(RedisError) -> RedisReply {
        try await send(command, timeout: nil)
    }

    /// Sends commands in one write, with the configured time limit, and returns their replies in the same order.
    public func pipeline(_ commands: [RedisCommand]) async throws(RedisError) -> [RedisReply] {
        try await pipeline(commands, timeout: nil)
    }
}
