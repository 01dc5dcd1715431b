import Accounts
import Foundation
import Logging
import RedisClient
import Schema
import ServiceDefaults
import TestSupport
import Testing

@testable import PostgresClient

/// The limits that the server keeps in the sessions of services, read through each kind of connection.
struct SessionLimitTests {
    /// The settings of Postgres of each service, by deployment; `deploy/verify/lint.sh` compares the file with what is deployed.
    private static func deployments() throws -> [String: [String: [String]]] {
        let file = try PackageRoot.file("Tests/Golden/database-settings.json")
        return try JSONDecoder().decode([String: [String: [String]]].self, from: Data(contentsOf: URL(fileURLWithPath: file)))
    }

    /// Runs `body` with a database whose services have roles, and a pooler in front of it that lets these roles in.
    private func withPooler(_ body: (TestDatabase, Pooler, (ServiceRole) -> String) async throws -> Void) async throws {
        try await withServiceRoles { database, prefix in
            let roles = ServiceRole.allCases.map { $0.name(prefix: prefix) }
            let pooler = try await Pooler.start(for: database, connections: 2, roles: roles)
            try await body(database, pooler) { $0.name(prefix: prefix) }
        }
    }

    @Test func `on every connection that a deployment gives a service, the limits are in force`() async throws {
        let deployments = try Self.deployments()
        #expect(Set(deployments.keys).isSuperset(of: ["docker-compose.yml", "overlays/local", "overlays/production"]))
        try await withPooler { database, pooler, name in
            for (deployment, services) in deployments {
                for role in ServiceRole.allCases {
                    let names = try #require(services[role.rawValue])
                    let direct = database.connecting(as: name(role)).url
                    let isPooled = names.contains("DATABASE_DIRECT_URL_FILE")
                    let folder = try TemporaryDirectory()
                    var settings = ["REDIS_URL": "redis://127.0.0.1:1"]
                    for setting in names {
                        let url = setting == "DATABASE_URL_FILE" && isPooled ? pooler.url(as: name(role)) : direct
                        try url.write(toFile: "\(folder.path)/\(setting)", atomically: true, encoding: .utf8)
                        settings[setting] = "\(folder.path)/\(setting)"
                    }
                    let read = try await limits(of: settings)
                    #expect(read.work == ["1min", "8s", "off"], "\(deployment): \(role), work")
                    #expect(read.listen == ["1min", "8s", "off"], "\(deployment): \(role), LISTEN")
                }
            }
        }
    }

    /// Reads the limits through the connections of a service with these settings.
    private func limits(of settings: [String: String]) async throws -> (work: [String], listen: [String]) {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let context = try ServiceContext(name: "test", settings: Settings(environment: settings), logger: logger)
        return try await finally {
            await context.postgres.shutdown()
            await context.redis.shutdown()
        } after: {
            let query: PostgresQuery = """
                SELECT ARRAY[current_setting('statement_timeout'), current_setting('idle_in_transaction_session_timeout'),
                    current_setting('jit')] AS limits
                """
            let work = try await context.postgres.query(query)[0].decode("limits", as: [String].self)
            let notifications = context.postgres.notifications(on: "test")
            let core = context.postgres.core
            let lease = try await eventually("the listener is connected") { await core.pool.listener }
            let listen = try await core.query(query, .leased(lease))[0].decode("limits", as: [String].self)
            _ = notifications
            return (work, listen)
        }
    }

    @Test func `a process that is frozen in a transaction behind a pooler loses its locks`() async throws {
        try await withPooler { database, pooler, name in
            let role = name(.identityAPI)
            try await database.psql("ALTER ROLE \(role) SET idle_in_transaction_session_timeout = '300ms'")
            try await withClient(of: database) { client in
                let user = try await client.makeUser(emailLookup: [UInt8](repeating: 1, count: 32), emailSealed: [1])
                let folder = try TemporaryDirectory()
                let process = try GuardedProcess(
                    [
                        "psql", "-Xv", "ON_ERROR_STOP=1", "-c", "BEGIN", "-c", "SELECT FROM users WHERE id = '\(user.id)' FOR UPDATE",
                        "-c", #"\! kill -STOP $PPID"#, pooler.url(as: role),
                    ], log: folder.path + "/psql.log")
                try await process.waitUntil("it has the lock, and is frozen") { process.isStopped }
                let update: PostgresQuery = "UPDATE users SET state = state WHERE id = \(user.id)"
                #expect(try await client.execute(update.timeout(.seconds(5))) == 1)
                #expect(process.isStopped)
                await process.stop(signal: SIGKILL)
            }
        }
    }
}

extension ConnectionPool {
    /// The lease of the connection for LISTEN.
    fileprivate var listener: LeaseID? { if case .connected(let lease) = listening.link { lease } else { nil } }
}

extension GuardedProcess {
    /// Whether a signal has stopped it.
    fileprivate var isStopped: Bool {
        let stat = (try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8)) ?? ""
        return stat.split(separator: ")").last?.hasPrefix(" T") == true
    }
}
