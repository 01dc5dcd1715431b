import Foundation

/// A Redis Cluster of real servers: masters that share the slots evenly, and replicas if asked for.
public final class RedisClusterServers: Sendable {
    /// One server of the cluster.
    public struct Node: Sendable {
        public let server: RedisServer
        /// Its id within the cluster.
        public let id: String
        var port: Int { server.port! }

        /// Whether it is a master now.
        public var isMaster: Bool {
            get async throws { try await server.cli("ROLE").hasPrefix("master") }
        }
    }

    /// The masters at the start.
    public let masters: [Node]
    /// The replicas at the start, each of the master at the same position.
    public let replicas: [Node]

    private static let slotCount = 16_384

    /// Starts the servers and returns when each of them says that the cluster is complete.
    ///
    /// - Parameters:
    ///   - replicas: The number of masters, from the first on, that have a replica.
    ///   - failoverTime: The silence after which the replica of a master takes its place.
    public static func start(
        masters masterCount: Int = 3, replicas replicaCount: Int = 0, failoverTime: Duration = .seconds(60),
        persistence: RedisServer.Persistence = .none
    ) async throws -> RedisClusterServers {
        let nodes = try await withThrowingTaskGroup { group in
            for _ in 0..<(masterCount + replicaCount) {
                group.addTask { try await startNode(failoverTime: failoverTime, persistence: persistence) }
            }
            var nodes: [(node: Node, busPort: Int)] = []
            for try await node in group { nodes.append(node) }
            return nodes
        }
        let cluster = RedisClusterServers(
            masters: nodes.prefix(masterCount).map(\.node), replicas: nodes.dropFirst(masterCount).map(\.node))
        for (index, master) in cluster.masters.enumerated() {
            let slots = (slotCount * index / masterCount, slotCount * (index + 1) / masterCount - 1)
            try await master.server.cli("CLUSTER", "ADDSLOTSRANGE", "\(slots.0)", "\(slots.1)")
            try await master.server.cli("CLUSTER", "SET-CONFIG-EPOCH", "\(index + 1)")
        }
        for other in nodes.dropFirst() {
            try await nodes[0].node.server.cli("CLUSTER", "MEET", "127.0.0.1", "\(other.node.port)", "\(other.busPort)")
        }
        try await cluster.join()
        return cluster
    }

    private init(masters: [Node], replicas: [Node]) {
        self.masters = masters
        self.replicas = replicas
    }

    private static func startNode(
        failoverTime: Duration, persistence: RedisServer.Persistence
    ) async throws -> (Node, busPort: Int) {
        let busPort = try FreePort.find()
        let server = try await RedisServer.start(
            persistence: persistence, tcp: true,
            extraArguments: [
                "--cluster-enabled", "yes", "--cluster-config-file", "nodes.conf", "--cluster-port", "\(busPort)",
                "--cluster-node-timeout", "\(Int(failoverTime / .milliseconds(1)))", "--cluster-replica-validity-factor", "0",
                "--cluster-allow-replica-migration", "no", "--repl-diskless-sync-delay", "0",
            ])
        let id = try await server.cli("CLUSTER", "MYID").trimmingCharacters(in: .whitespacesAndNewlines)
        return (Node(server: server, id: id), busPort)
    }

    /// All servers, the masters of the start first.
    public var nodes: [Node] { masters + replicas }

    private func join() async throws {
        for node in nodes {
            try await eventually("\(node.port) knows the other servers") {
                let lines = try await node.server.cli("CLUSTER", "NODES").split(separator: "\n")
                return lines.count == nodes.count && !lines.contains { $0.contains("handshake") }
            }
        }
        for (master, replica) in zip(masters, replicas) { try await replica.server.cli("CLUSTER", "REPLICATE", master.id) }
        for node in nodes {
            try await eventually("the cluster is complete for \(node.port)") {
                let isComplete = try await node.server.cli("CLUSTER", "INFO").contains("cluster_state:ok")
                let slots = try await node.server.cli("CLUSTER", "SLOTS")
                return isComplete && nodes.allSatisfy { slots.contains($0.id) }
            }
        }
        for replica in replicas {
            try await eventually("\(replica.port) follows its master") {
                try await replica.server.cli("INFO", "replication").contains("master_link_status:up")
            }
        }
    }

    /// The URL for clients.
    public var url: String { "redis+cluster://" + masters.map { "127.0.0.1:\($0.port)" }.joined(separator: ",") }

    /// Returns the slot of a key.
    public func slot(of key: String) async throws -> Int {
        let text = try await masters[0].server.cli("CLUSTER", "KEYSLOT", key)
        return Int(text.trimmingCharacters(in: .whitespacesAndNewlines)) ?? -1
    }

    /// Returns the position of the master that has a key at the start.
    public func position(of key: String) async throws -> Int {
        let slot = try await slot(of: key)
        return masters.indices.first { slot < Self.slotCount * ($0 + 1) / masters.count } ?? 0
    }

    /// Returns the position of the pair of servers, of the start, whose master has a key now; nil while none answers for it.
    public func pair(serving key: String) async throws -> Int? {
        for (index, node) in nodes.enumerated() {
            // Every other server, a replica too, names the one to ask. A server that is down fails the call.
            guard let reply = try? await node.server.cli("EXISTS", key), Int(reply.trimmingCharacters(in: .newlines)) != nil else {
                continue
            }
            return index % masters.count
        }
        return nil
    }

    /// Returns the servers of a pair of the start: which of them is the master now, and the other one.
    public func roles(ofPair index: Int) async throws -> (master: Node, replica: Node) {
        let (one, other) = (masters[index], replicas[index])
        return try await one.isMaster ? (one, other) : (other, one)
    }

    /// Begins to move a slot between two masters: from now on, keys that the first does not have are asked of the second.
    public func beginMigration(of slot: Int, from source: Node, to target: Node) async throws {
        try await target.server.cli("CLUSTER", "SETSLOT", "\(slot)", "IMPORTING", source.id)
        try await source.server.cli("CLUSTER", "SETSLOT", "\(slot)", "MIGRATING", target.id)
    }

    /// Moves the keys of a slot that ``beginMigration(of:from:to:)`` was called for, and ends with the slot at its new master.
    public func endMigration(of slot: Int, from source: Node, to target: Node) async throws {
        while true {
            let keys = try await source.server.cli("CLUSTER", "GETKEYSINSLOT", "\(slot)", "100").split(separator: "\n").map(String.init)
            if keys.isEmpty { break }
            for key in keys { try await source.server.cli("MIGRATE", "127.0.0.1", "\(target.port)", key, "0", "60000") }
        }
        try await target.server.cli("CLUSTER", "SETSLOT", "\(slot)", "NODE", target.id)
        try await source.server.cli("CLUSTER", "SETSLOT", "\(slot)", "NODE", target.id)
        for other in masters where other.id != source.id && other.id != target.id {
            _ = try? await other.server.cli("CLUSTER", "SETSLOT", "\(slot)", "NODE", target.id)
        }
    }

    /// Moves a slot with its keys between two masters.
    public func migrate(slot: Int, from source: Node, to target: Node) async throws {
        try await beginMigration(of: slot, from: source, to: target)
        try await endMigration(of: slot, from: source, to: target)
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
