import Foundation

/// A Redis master, a replica of it and three real Sentinels, all with passwords; with TLS between all of them if asked for.
public final class SentinelCluster: Sendable {
    /// The name of the master in the Sentinels.
    public static let masterName = "mymaster"
    /// The password of both servers.
    public static let password = "of-the-servers"
    /// The password of the Sentinels.
    public static let sentinelPassword = "of-the-sentinels"

    /// The two servers; the first is the master at the start.
    public let servers: [RedisServer]
    /// The ports of the Sentinels on 127.0.0.1.
    public let ports: [Int]
    /// The PEM file of the authority that signed all certificates; nil without TLS.
    public let authority: String?
    private let sentinels: [GuardedProcess]
    private let folder: TemporaryDirectory

    /// Starts all five servers and returns when each Sentinel knows the replica and the other Sentinels.
    public static func start(tls: Bool) async throws -> SentinelCluster {
        let folder = try TemporaryDirectory()
        let security = tls ? ["--tls-replication", "yes"] : []
        let master = try await RedisServer.start(tcp: true, tls: tls, password: password, extraArguments: security)
        let following = ["--replicaof", "127.0.0.1", "\(master.port!)"]
        // The replica and the Sentinels have the master's certificate, so that all trust one authority.
        let replica = try await RedisServer.start(
            tcp: true, tls: tls, certificates: master.certificates, password: password, extraArguments: security + following)
        // Sentinels ask a master for its replicas at the start, and then every 10 s.
        try await eventually("the replica follows") {
            try await replica.cli("INFO", "replication").contains("master_link_status:up")
        }
        let ports = try (0..<3).map { _ in try FreePort.find() }
        let sentinels = try ports.map { port in
            let file = "\(folder.path)/\(port).conf"
            try configuration(port: port, master: master, in: folder).write(toFile: file, atomically: true, encoding: .utf8)
            return try GuardedProcess([RedisServer.program, file, "--sentinel"], log: "\(folder.path)/\(port).log")
        }
        let cluster = SentinelCluster(
            servers: [master, replica], ports: ports, authority: master.certificates?.authority, sentinels: sentinels, folder: folder)
        for (port, sentinel) in zip(ports, sentinels) {
            try await sentinel.waitUntil("the Sentinel at \(port) knows the others") {
                let seen = (try? await cluster.ask(port, "SENTINEL", "MASTER", masterName)) ?? ""
                return seen.contains("num-slaves\n1\n") && seen.contains("num-other-sentinels\n2\n")
            }
        }
        return cluster
    }

    private init(servers: [RedisServer], ports: [Int], authority: String?, sentinels: [GuardedProcess], folder: TemporaryDirectory) {
        self.servers = servers
        self.ports = ports
        self.authority = authority
        self.sentinels = sentinels
        self.folder = folder
    }

    /// Returns the URL for clients; `first` are addresses that precede those of the Sentinels.
    public func url(first: [String] = []) -> String {
        let addresses = (first + ports.map { "127.0.0.1:\($0)" }).joined(separator: ",")
        return "\(authority == nil ? "redis" : "rediss")+sentinel://:\(Self.password)@\(addresses)/\(Self.masterName)"
    }

    /// Sends a command to one Sentinel with `redis-cli`.
    @discardableResult
    public func ask(_ port: Int, _ command: String...) async throws -> String {
        let tls = authority.map { ["--tls", "--cacert", $0] } ?? []
        return try await CommandLineTool.run(
            ["redis-cli", "--no-auth-warning", "-a", Self.sentinelPassword, "-p", "\(port)"] + tls + command)
    }

    private static func configuration(port: Int, master: RedisServer, in folder: TemporaryDirectory) -> String {
        var lines = [
            "bind 127.0.0.1", "dir \(folder.path)", "requirepass \(sentinelPassword)", "sentinel sentinel-pass \(sentinelPassword)",
            "sentinel monitor \(masterName) 127.0.0.1 \(master.port!) 2", "sentinel auth-pass \(masterName) \(password)",
            "sentinel down-after-milliseconds \(masterName) 2000", "sentinel failover-timeout \(masterName) 2000",
        ]
        if let certificates = master.certificates {
            lines += [
                "port 0", "tls-port \(port)", "tls-cert-file \(certificates.certificate)", "tls-key-file \(certificates.key)",
                "tls-ca-cert-file \(certificates.authority)", "tls-auth-clients no", "tls-replication yes",
            ]
        } else {
            lines.append("port \(port)")
        }
        return lines.joined(separator: "\n") + "\n"
    }
}
