import EventBus
import TestSupport

/// The servers of a cluster, and where its streams are.
extension Rig {
    /// Returns the cluster; throws when the row's ``RigOptions`` have none.
    func requireCluster() throws -> RedisClusterServers {
        guard let cluster else { throw DeadlineExceeded(description: "the row asked for no cluster") }
        return cluster
    }

    /// Returns the master that has a stream now.
    func master(of stream: String) async throws -> RedisClusterServers.Node {
        let (cluster, key) = (try requireCluster(), transport.key(of: stream))
        return try await eventually("a master has \(stream)") { try await cluster.master(serving: key) }
    }

    /// A slot, the master that has it, and the master that it moves to.
    typealias Move = (slot: Int, source: RedisClusterServers.Node, target: RedisClusterServers.Node)

    /// Returns a move of a stream's slot to another master.
    func move(of stream: String) async throws -> Move {
        let cluster = try requireCluster()
        let source = try await master(of: stream)
        let target = try await cluster.currentMasters().first { $0.id != source.id }
        guard let target else { throw DeadlineExceeded(description: "there is no other master") }
        return (try await cluster.slot(of: transport.key(of: stream)), source, target)
    }

    /// Returns the master that has a stream now, and its replica.
    func roles(of stream: String) async throws -> (master: RedisClusterServers.Node, replica: RedisClusterServers.Node) {
        try await requireCluster().roles(ofPairWith: try await master(of: stream))
    }
}
