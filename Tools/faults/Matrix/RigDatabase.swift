import Foundation
import TestSupport

/// The way from the processes of a row to Postgres.
enum DatabasePath: Sendable {
    /// The Unix socket of the server.
    case direct
    /// A proxy.
    case proxied
    /// A proxy that leads to the first of two poolers.
    case pooled
    /// The addresses of a primary and of its standby.
    case replicated
    /// A proxy that leads to the primary of two servers.
    case replicatedBehindProxy
}

/// The servers of Postgres of a row, and the proxy or pooler between them and the processes.
struct RigDatabase: Sendable {
    let primary: PostgresServer
    let standby: PostgresServer?
    let proxy: FaultProxy?
    let poolers: [Pooler]

    private static let name = "postgres"

    /// Starts the servers; the servers of a pair have the same data.
    static func start(_ path: DatabasePath) async throws -> RigDatabase {
        let primary = try await PostgresServer.start(
            extraArguments: ["-c", "track_commit_timestamp=on", "-c", "deadlock_timeout=100ms"])
        let database = TestDatabase(url: primary.url(), name: name, server: primary)
        switch path {
        case .direct: return RigDatabase(primary: primary, standby: nil, proxy: nil, poolers: [])
        case .proxied:
            return RigDatabase(
                primary: primary, standby: nil, proxy: try await FaultProxy.start(to: .tcp(port: primary.port)), poolers: [])
        case .pooled:
            // What `heliographctl migrate up --service-roles` sets for the roles of the services.
            try await database.psql(
                "ALTER ROLE heliograph SET statement_timeout = '60s'; ALTER ROLE heliograph SET idle_in_transaction_session_timeout = '8s'")
            let poolers = [
                try await Pooler.start(for: database, connections: 60), try await Pooler.start(for: database, connections: 60),
            ]
            return RigDatabase(
                primary: primary, standby: nil, proxy: try await FaultProxy.start(to: .tcp(port: poolers[0].port)), poolers: poolers)
        case .replicated, .replicatedBehindProxy:
            let standby = try await primary.startStandby()
            let proxy = path == .replicated ? nil : try await FaultProxy.start(to: .tcp(port: primary.port))
            return RigDatabase(primary: primary, standby: standby, proxy: proxy, poolers: [])
        }
    }

    /// The URL by which the processes reach the database.
    var url: String { proxy.map { Self.url(ports: [$0.port]) } ?? serverURL }

    /// The URL of the server itself, if ``url`` leads to a pooler.
    var directURL: String? { poolers.isEmpty ? nil : serverURL }

    /// The URL past the proxy and the poolers.
    var serverURL: String {
        standby.map { Self.url(ports: [primary.port, $0.port]) } ?? primary.url()
    }

    private static func url(ports: [Int]) -> String {
        "postgresql://heliograph@" + ports.map { "127.0.0.1:\($0)" }.joined(separator: ",") + "/\(name)"
    }

    /// Promotes the standby; the old primary stays up and takes no more writes. No commit is lost.
    func switchOver() async throws {
        guard let standby else { preconditionFailure("the row has no standby") }
        try await primary.psql("ALTER SYSTEM SET default_transaction_read_only = on")
        try await primary.psql("SELECT pg_reload_conf()")
        // Transactions that had begun before may still write.
        try await eventually("the primary has no more writers") {
            try await primary.psql("SELECT count(*) FROM pg_stat_activity WHERE backend_xid IS NOT NULL") == "0" ? () : nil
        }
        let end = try await primary.psql("SELECT pg_current_wal_insert_lsn()")
        try await eventually("the standby has replayed what the primary has written") {
            try await standby.psql("SELECT pg_last_wal_replay_lsn() >= '\(end)'") == "t" ? () : nil
        }
        try await standby.promote()
    }

    /// Kills the servers and the proxy or pooler in front of them.
    func stop() async {
        await proxy?.stop()
        for pooler in poolers { await pooler.stop() }
        await standby?.kill()
        await primary.kill()
    }
}
