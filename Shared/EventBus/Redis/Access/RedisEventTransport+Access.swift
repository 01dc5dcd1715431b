import RedisClient

extension RedisEventTransport {
    /// Creates the user of a service, or replaces its rules and its password; connections that are open stay. In a cluster every
    /// server gets the user, because each of them checks its commands itself, and a replica may become a master.
    ///
    /// Needs a user who may administer others. A server without an ACL file forgets the users when it restarts.
    public func setUser(_ user: RedisServiceUser, passwordHash: RedisPasswordHash) async throws(EventBusError) {
        let arguments: [any RedisArgument] = ["SETUSER", user.name] + user.rules + [passwordHash.rule]
        try await attempt("setting a user") { () async throws(RedisError) in
            _ = try await client.sendToAllServers(RedisCommand("ACL", arguments: arguments))
        }
    }
}
