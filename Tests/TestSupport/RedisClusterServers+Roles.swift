import Foundation

/// Masters and replicas, and the change of their roles.
extension RedisClusterServers {
    /// Returns the master that has a key now; nil while none answers for it.
    public func master(serving key: String) async throws -> Node? {
        for node in nodes {
            // Every other server, a replica too, names the one to ask. A server that is down fails the call.
            if let reply = try? await node.server.cli("EXISTS", key), Int(reply.trimmingCharacters(in: .newlines)) != nil { return node }
        }
        return nil
    }

    /// Returns the servers of the pair that a server belongs to: which of them is the master now, and the other one.
    public func roles(ofPairWith node: Node) async throws -> (master: Node, replica: Node) {
        let index = nodes.firstIndex { $0.id == node.id }! % masters.count
        let (one, other) = (masters[index], replicas[index])
        return try await one.isMaster ? (one, other) : (other, one)
    }

    /// Returns the servers that are masters now.
    public func currentMasters() async throws -> [Node] {
        var found: [Node] = []
        for node in nodes where try await node.isMaster { found.append(node) }
        return found
    }

    /// Has a replica take its master's place in agreement with it, and waits until it has.
    public func failOver(to replica: Node) async throws {
        // A replica refuses it while it has lost sight of its master, and gives it up after five seconds, which only another request begins
        // again; a request during those begins them anew.
        try await eventually("\(replica.port) becomes a master") {
            try await replica.server.cli("CLUSTER", "FAILOVER")
            return (try? await eventually(within: .seconds(6), "") { try await replica.isMaster }) != nil
        }
    }

    /// Waits until a replica has become a master.
    public func waitUntilMaster(_ replica: Node) async throws {
        try await eventually("\(replica.port) becomes a master") { try await replica.isMaster }
    }
}
