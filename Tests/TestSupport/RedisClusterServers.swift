import Foundation

/// A Redis Cluster of real servers: masters that share the slots evenly, and replicas if asked for.
public final class RedisClusterServers: Sendable {
    /// One server of the cluster.
    public struct Node: Sendable {
        /// The process; its TCP port is that of the clients, unless there is a ``proxy``.
        public let server: RedisServer
        /// Its id within the cluster.
        public let id: String
        /// The proxy by which clients and replicas reach it; nil unless the cluster was started with proxies.
        public let proxy: FaultProxy?
        var port: Int { server.port! }
        /// The port that the cluster names.
        var announcedPort: Int { proxy?.port ?? port }

        /// Whether it is a master now.
        public var isMaster: Bool {
            get async throws { try await server.cli("ROLE").hasPrefix("master") }
        }
    }

    /// The masters at the start.
    public let masters: [Node]
    /// The replicas at the start, each of the master at the same position.
    public let replicas: [Node]

    static let slotCount = 16_384
    /// For one test at a time to move keys.
    let movingKeys = Slots(count: 1)

    /// Starts the servers and returns when each of them says that the cluster is complete.
    ///
    /// - Parameters:
    ///   - replicas: The number of masters, from the first on, that have a replica.
    ///   - failoverTime: The silence after which the replica of a master takes its place.
    ///   - isProxied: Whether each server is reached through a proxy of its own; the servers watch each other past them.
    public static func start(
        masters masterCount: Int = 3, replicas replicaCount: Int = 0, failoverTime: Duration = .seconds(60),
        persistence: RedisServer.Persistence = .none, isProxied: Bool = false, extraArguments: [String] = []
    ) async throws -> RedisClusterServers {
        let settings =
            [
                "--cluster-node-timeout", "\(Int(failoverTime / .milliseconds(1)))", "--cluster-replica-validity-factor", "0",
                "--cluster-allow-replica-migration", "no", "--repl-diskless-sync-delay", "0",
            ] + extraArguments
        let nodes = try await withThrowingTaskGroup { group in
            for _ in 0..<(masterCount + replicaCount) {
                group.addTask { try await startNode(persistence, isProxied: isProxied, settings) }
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
            try await nodes[0].node.server.cli("CLUSTER", "MEET", "127.0.0.1", "\(other.node.announcedPort)", "\(other.busPort)")
        }
        try await cluster.join()
        return cluster
    }

    private init(masters: [Node], replicas: [Node]) {
        self.masters = masters
        self.replicas = replicas
    }

    private static func startNode(
        _ persistence: RedisServer.Persistence, isProxied: Bool, _ settings: [String]
    ) async throws -> (Node, busPort: Int) {
        let busPort = try FreePort.find()
        // The server is started with the proxy's port, and the proxy is led to the server then.
        let proxy = isProxied ? try await FaultProxy.start(to: .tcp(port: busPort)) : nil
        let announcement = proxy.map { ["--cluster-announce-port", "\($0.port)"] } ?? []
        let server = try await RedisServer.start(
            persistence: persistence, tcp: true,
            extraArguments: ["--cluster-enabled", "yes", "--cluster-config-file", "nodes.conf", "--cluster-port", "\(busPort)"]
                + announcement + settings)
        try await proxy?.point(to: .unixSocket(path: server.socket))
        let id = try await server.cli("CLUSTER", "MYID").trimmingCharacters(in: .whitespacesAndNewlines)
        return (Node(server: server, id: id, proxy: proxy), busPort)
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
    public var url: String { "redis+cluster://" + masters.map { "127.0.0.1:\($0.announcedPort)" }.joined(separator: ",") }
}
