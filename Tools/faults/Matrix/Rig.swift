import EventBus
import FaultLedger
import Foundation
import Logging
import PostgresClient
import RedisClient
import Synchronization
import TestSupport
import WireFormat

/// The special requirements of a row for its servers.
struct RigOptions: Sendable {
    /// The persistence of Redis; by default the same as in production.
    var persistence = RedisServer.Persistence.appendOnly
    /// Whether the processes reach Redis by TCP through proxies, one for each server.
    var isProxied = false
    /// Whether Redis is a cluster of three masters with a replica each, which takes the place of a master that is away for two seconds.
    var isClustered = false
    var databasePath = DatabasePath.direct
}

/// The servers, the ledger and the processes of one row; rows do not share any of them.
public final class Rig: Sendable {
    static let group = "fault"
    static let workStream = FaultWork.type.rawValue
    static let streams = [workStream, FaultDone.type.rawValue]

    let scale: Scale
    /// The one server, or all of the cluster, the masters of the start first.
    let redisServers: [RedisServer]
    /// nil unless ``RigOptions/isClustered``.
    let cluster: RedisClusterServers?
    let databases: RigDatabase
    /// The database of the primary at the start, not through the proxy or pooler in front of it.
    let database: TestDatabase
    let ledger: Ledger
    /// The proxies between the processes and each server of Redis; empty unless ``RigOptions/isProxied``.
    let proxies: [FaultProxy]
    /// The rig's own client of Postgres, which follows the primary.
    let client: PostgresClient
    let folder: TemporaryDirectory
    let state: Mutex<State>

    private static let quiet = Logger(label: "rig") { _ in SwiftLogNoOpLogHandler() }

    /// The time limit of the rig's own Redis commands: as long as its waits, so that a busy machine does not fail them.
    private static let patience = Duration.seconds(120)

    private static func client(of url: String) throws -> RedisClient {
        var configuration = try RedisConfiguration(url: url)
        configuration.commandTimeout = patience
        return RedisClient(configuration: configuration, logger: quiet)
    }

    struct State {
        var processes: [RigProcess] = []
        var moments: [Moment] = []
        var checks: [FaultReport.Check] = []
        /// The Redis servers that ``follow(_:)`` has added.
        var servers: [RedisServer] = []
        /// See ``Rig/redisClient``.
        var redisClient: RedisClient
    }

    /// The time of a fault, and the processes whose work is measured from then on; nil for all work.
    struct Moment: Sendable {
        let date: Date
        let pids: [Int32]?
    }

    private init(
        _ scale: Scale, redisServers: [RedisServer], cluster: RedisClusterServers?, databases: RigDatabase, database: TestDatabase,
        proxies: [FaultProxy], folder: TemporaryDirectory
    ) throws {
        self.scale = scale
        self.redisServers = redisServers
        self.cluster = cluster
        self.databases = databases
        self.database = database
        self.proxies = proxies
        self.folder = folder
        client = try PostgresClient(configuration: PostgresConfiguration(url: databases.serverURL), logger: Self.quiet)
        ledger = Ledger(client)
        state = Mutex(State(redisClient: try Self.client(of: cluster?.url ?? redisServers[0].url)))
    }

    /// Starts the servers, with the schema of production and the ledger in the database.
    static func start(_ options: RigOptions, _ scale: Scale) async throws -> Rig {
        async let startedRedis = startRedis(options)
        async let startedDatabases = RigDatabase.start(options.databasePath)
        let ((redisServers, cluster), databases) = (try await startedRedis, try await startedDatabases)
        let control = try PackageRoot.executable("heliographctl")
        let database = TestDatabase(url: databases.primary.url(), name: "postgres", server: databases.primary)
        try await CommandLineTool.run([control, "migrate", "up"], environment: ["DATABASE_URL": database.url])
        try await database.psql(Ledger.schema)
        var proxies = cluster?.nodes.compactMap(\.proxy) ?? []
        if options.isProxied, cluster == nil { proxies = [try await FaultProxy.start(to: .unixSocket(path: redisServers[0].socket))] }
        return try Rig(
            scale, redisServers: redisServers, cluster: cluster, databases: databases, database: database, proxies: proxies,
            folder: TemporaryDirectory())
    }

    private static func startRedis(_ options: RigOptions) async throws -> ([RedisServer], RedisClusterServers?) {
        guard options.isClustered else {
            return ([try await RedisServer.start(persistence: options.persistence, tcp: options.isProxied)], nil)
        }
        let cluster = try await RedisClusterServers.start(
            replicas: 3, failoverTime: .seconds(2), persistence: options.persistence, isProxied: options.isProxied)
        return (cluster.nodes.map(\.server), cluster)
    }

    /// Kills all processes and servers.
    func stop() async {
        for process in state.withLock({ $0.processes }) { await process.guarded.stop(signal: SIGKILL) }
        await client.shutdown()
        await redisClient.shutdown()
        for proxy in proxies { await proxy.stop() }
        for server in state.withLock({ $0.servers }) + redisServers { await server.kill() }
        await databases.stop()
    }

    /// The URL by which the processes reach Redis.
    var redisURL: String { cluster?.url ?? proxies.first.map { "redis://127.0.0.1:\($0.port)" } ?? redisServers[0].url }

    /// The URL without the proxy. A cluster has no such URL, because its servers announce the addresses of the proxies.
    var directRedisURL: String { cluster?.url ?? redisServers[0].url }

    /// The rig's own client of Redis, on ``directRedisURL``.
    var redisClient: RedisClient { state.withLock { $0.redisClient } }

    /// The bus transport on that client.
    var transport: RedisEventTransport { RedisEventTransport(client: redisClient, appendTimeout: Self.patience) }

    /// Connects the rig's own client to another server, which is then stopped with the rig.
    func follow(_ server: RedisServer) async throws {
        let fresh = try Self.client(of: server.url)
        let old = state.withLock { state in
            state.servers.append(server)
            defer { state.redisClient = fresh }
            return state.redisClient
        }
        await old.shutdown()
    }

    /// Records a fault: the report contains the time from now until the work that is due now is done.
    ///
    /// - Parameter process: The process whose work is measured; nil for all work.
    func mark(_ process: RigProcess? = nil) {
        let moment = Moment(date: Date(), pids: process.map { [$0.pid] })
        state.withLock { $0.moments.append(moment) }
    }

    /// Records the result of a further expectation of the row, besides the expectations that no effect is lost or taken twice.
    func check(_ name: String, _ ok: Bool, _ detail: String) {
        state.withLock { $0.checks.append(FaultReport.Check(name: name, ok: ok, detail: detail)) }
    }
}
