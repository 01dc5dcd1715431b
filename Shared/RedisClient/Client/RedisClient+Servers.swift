extension RedisClient {
    /// Ends the blocking read of another connection as if its time had run out, so that no entry is lost in transit; false when
    /// that connection is not blocked, or its server did not name it.
    ///
    /// - Parameter connection: One of this client: ``dedicatedConnection(for:)``.
    @discardableResult
    public func unblock(_ connection: RedisConnection) async throws(RedisError) -> Bool {
        guard let number = connection.clientID else { return false }
        var client = self
        if let cluster, case .tcp(let host, let port) = connection.endpoint {
            client = try cluster.client(of: RedisAddress(host: host, port: port))
        }
        return try await client.send(RedisCommand("CLIENT", "UNBLOCK", number)).requireInteger() > 0
    }

    /// Sends a command to the server, or to each server of a cluster, replicas included, and returns the replies.
    ///
    /// - Throws: The first failure; the servers before that one have executed the command.
    public func sendToAllServers(_ command: RedisCommand) async throws(RedisError) -> [RedisReply] {
        guard let cluster else { return [try await send(command)] }
        let map = try await cluster.map(deadline: deadline(after: nil))
        var replies: [RedisReply] = []
        for server in map.servers { replies.append(try await cluster.client(of: server).send(command)) }
        return replies
    }
}
