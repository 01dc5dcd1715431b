import RedisClient

extension RedisEventTransport {
    /// Creates the user of a service, or replaces its rules and its password; open connections stay open. In a cluster every server gets
    /// the user, because each of them checks its commands itself, and a replica may become a master.
    ///
    /// Needs a connection whose user may administer users. A server without an ACL file forgets the users when it restarts.
    public func setUser(_ user: RedisServiceUser, passwordHash: RedisPasswordHash) async throws(EventBusError) {
        let arguments: [any RedisArgument] = ["SETUSER", user.name] + user.rules + [passwordHash.rule]
        try await attempt("setting a user") { () async throws(RedisError) in
            _ = try await client.sendToAllServers(RedisCommand("ACL", arguments: arguments))
        }
    }
}
