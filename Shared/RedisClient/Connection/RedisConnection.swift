import NIOCore

/// One dedicated connection to the server, for blocking reads.
///
/// Commands that are submitted at the same time leave in one write and are answered in order. A command that is cancelled or
/// not answered in time closes the connection, which is not made again: get another one from the ``RedisClient``.
public final class RedisConnection: RedisCommandSender {
    /// The server's number for this connection, with which another one can end its blocking read
    /// (``RedisClient/unblock(_:)``); `nil` when the server refuses to name it.
    public let clientID: Int?
    /// The server of the connection.
    let endpoint: RedisConfiguration.Endpoint
    let core: ConnectionCore

    init(core: ConnectionCore, endpoint: RedisConfiguration.Endpoint, clientID: Int?) {
        self.core = core
        self.endpoint = endpoint
        self.clientID = clientID
    }

    /// Whether the connection refuses new commands.
    var isRetired: Bool { core.isRetired }

    /// Sends a command on this connection.
    ///
    /// - Parameter timeout: nil for ``RedisConfiguration/commandTimeout``; a reply that is later closes the connection.
    public func send(_ command: RedisCommand, timeout: Duration?) async throws(RedisError) -> RedisReply {
        try await core.send(command, deadline: core.deadline(after: timeout)).checked()
    }

    /// Sends commands on this connection in one write and returns their replies, errors included, in order.
    public func pipeline(_ commands: [RedisCommand], timeout: Duration?) async throws(RedisError) -> [RedisReply] {
        try await core.pipeline(commands, deadline: core.deadline(after: timeout))
    }

    /// Waits until the connection is closed.
    public func waitUntilClosed() async {
        try? await core.channel.closeFuture.get()
    }

    /// Closes the connection after the submitted commands have finished; new commands fail with ``RedisError/Code/shutDown``.
    ///
    /// Returns when the connection is closed, which a blocking read delays until its time runs out.
    public func close() async {
        core.drain()
        await waitUntilClosed()
    }

    /// Closes the connection at once; waiting commands fail.
    func closeNow() {
        core.close(RedisError(.shutDown, "the connection was shut down"))
    }

    func drain() {
        core.drain()
    }
}
