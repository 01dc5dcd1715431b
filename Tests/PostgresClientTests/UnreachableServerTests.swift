import TestSupport
import Testing

@testable import PostgresClient

@Suite("A server that cannot be reached or takes no writes")
struct UnreachableServerTests {
    /// A port on which nothing listens.
    private func unreachableURL() throws -> String { "postgresql://heliograph@127.0.0.1:\(try FreePort.find())/postgres" }

    @Test func `work fails as unavailable long before its deadline`() async throws {
        try await withClient(to: unreachableURL(), { $0.unreachableTimeout = .milliseconds(100) }) { client in
            let start = ContinuousClock.now
            for query: PostgresQuery in ["SELECT 1", PostgresQuery("SELECT 1").readOnly()] {
                let error = await postgresError { try await client.query(query.timeout(.seconds(60))) }
                #expect(error?.code == .unavailable)
                #expect(error?.fault == .outage)
                #expect(error?.description.contains("onnection refused") == true)
            }
            #expect(ContinuousClock.now - start < .seconds(20))
        }
    }

    @Test func `only a bounded number of units waits for it`() async throws {
        try await withClient(
            to: unreachableURL(),
            {
                $0.maxWaitingUnreachable = 3
                $0.unreachableTimeout = .seconds(60)
            }
        ) { client in
            await withTaskGroup(of: PostgresError?.self) { group in
                group.addTask { await postgresError { try await client.query("SELECT 1") } }
                try? await eventually("an attempt to connect has failed") { await client.core.pool.isUnreachable }
                for _ in 0..<9 { group.addTask { await postgresError { try await client.query("SELECT 1") } } }
                for _ in 0..<7 {
                    let error = await group.next() ?? nil
                    #expect(error?.code == .queueFull)
                    #expect(error?.fault == .outage)
                }
                group.cancelAll()
                for await error in group { #expect(error?.code == .cancelled) }
            }
        }
    }

    @Test func `a pool whose every attempt to connect fails is not stuck`() async throws {
        try await withClient(to: unreachableURL(), { $0.unreachableTimeout = .milliseconds(20) }) { client in
            _ = await postgresError { try await client.query("SELECT 1") }
            _ = await postgresError { try await client.query("SELECT 1") }
            try await eventually("an attempt has failed since") { (try? client.checkProgress(within: .zero)).map { _ in () } }
        }
    }

    @Test func `a pool is stuck while an attempt to connect does not end`() async throws {
        // It accepts connections and says nothing: libpq waits for as long as it is allowed to.
        let silent = try await ScriptedServer { try await $0.waitForClose() }
        try await withClient(to: "postgresql://heliograph@127.0.0.1:\(silent.port)/postgres") { client in
            try client.checkProgress(within: .zero)
            let error = await postgresError { try await client.query(PostgresQuery("SELECT 1").timeout(.milliseconds(50))) }
            #expect(error?.code == .unavailable)
            #expect(throws: PostgresError.self) { try client.checkProgress(within: .milliseconds(40)) }
            try client.checkProgress(within: .seconds(60))
        }
    }

    @Test func `answers on the connection for LISTEN do not hide that work is stuck`() async throws {
        let silent = try await ScriptedServer { try await $0.waitForClose() }
        try await withEmptyDatabase { database in
            try await withClient(
                to: "postgresql://heliograph@127.0.0.1:\(silent.port)/postgres",
                {
                    $0.directURL = database.url
                    $0.listenProbeInterval = .milliseconds(10)
                }
            ) { client in
                var notifications = client.notifications(on: "news").makeAsyncIterator()
                #expect(await notifications.next()?.kind == .listening)
                let query = PostgresQuery("SELECT 1").timeout(.milliseconds(400))
                #expect(await postgresError { try await client.query(query) }?.code == .unavailable)
                #expect(throws: PostgresError.self) { try client.checkProgress(within: .milliseconds(200)) }
            }
        }
    }

    @Test func `a write on a server that became read-only is an outage, and the next connection is refused`() async throws {
        try await withReadOnlyChange { client, database, setReadOnly in
            try await client.execute("CREATE TABLE t (n int)")
            try await setReadOnly(true)
            let refused = try await eventually("the setting has reached the session") {
                await postgresError { try await client.execute("INSERT INTO t VALUES (1)") }
            }
            #expect(refused.sqlState == "25006")
            #expect(refused.fault == .outage)
            let next = await postgresError { try await client.execute("INSERT INTO t VALUES (2)") }
            #expect(next?.code == .unavailable)
            #expect(next?.description.contains("read-only") == true)
            try await setReadOnly(false)
            try await eventually("writes succeed") { try? await client.execute("INSERT INTO t VALUES (3)") }
        }
    }

    @Test func `the check for writes finds a read-only server without a write, and replaces the connections`() async throws {
        try await withReadOnlyChange { client, database, setReadOnly in
            try await client.checkWritable()
            try await setReadOnly(true)
            let found = try await eventually("the setting has reached the session") {
                await postgresError { try await client.checkWritable() }
            }
            #expect(found.sqlState == "25006")
            try await eventually("the connection is gone") {
                try await database.psql(
                    "SELECT FROM pg_stat_activity WHERE application_name = 'test-client' AND datname = current_database()"
                ).isEmpty
            }
        }
    }

    @Test func `the connection for LISTEN leaves a server that became read-only, and listens again when there is one that takes writes`()
        async throws
    {
        try await withReadOnlyChange { client, database, setReadOnly in
            var notifications = client.notifications(on: "news").makeAsyncIterator()
            #expect(await notifications.next()?.kind == .listening)
            let before = try await Self.listener(database)
            try await setReadOnly(true)
            try await eventually("the connection is gone") { try await Self.listener(database).isEmpty }
            try await setReadOnly(false)
            #expect(await notifications.next()?.kind == .listening)
            #expect(try await Self.listener(database) != before)
        }
    }

    private static func listener(_ database: TestDatabase) async throws -> String {
        try await database.psql(
            """
            SELECT pid FROM pg_stat_activity
            WHERE application_name = 'test-client' AND query NOT LIKE '%pg_stat%' AND datname = current_database()
            """)
    }

    @Test func `of several hosts the one that takes writes is used`() async throws {
        try await withEmptyDatabase { database in
            try await database.psql("ALTER DATABASE \(database.name) SET default_transaction_read_only = on")
            try await withEmptyDatabase { writable in
                let port = database.server.port
                let hosts = "postgresql://heliograph@127.0.0.1:\(port),127.0.0.1:\(port)/\(database.name)"
                try await withClient(to: hosts, { $0.unreachableTimeout = .milliseconds(100) }) { client in
                    #expect(await postgresError { try await client.query("SELECT 1") }?.code == .unavailable)
                }
                for url in [hosts + "?target_session_attrs=any", writable.url] {
                    try await withClient(to: url) { client in _ = try await client.query("SELECT 1") }
                }
            }
        }
    }

    /// Runs the body with a client with one connection, and a function that makes its database read-only for the sessions that it has and
    /// for new ones, as an operator or a provider does whose disk is full.
    private func withReadOnlyChange(
        _ body: (PostgresClient, TestDatabase, (Bool) async throws -> Void) async throws -> Void
    ) async throws {
        let server = try await PostgresServer.start()
        try await finally(server.stop) {
            let database = TestDatabase(url: server.url(), name: "postgres", server: server)
            try await withClient(
                to: database.url,
                {
                    $0.maxConnections = 1
                    $0.unreachableTimeout = .milliseconds(200)
                    $0.listenProbeInterval = .milliseconds(50)
                }
            ) { client in
                try await body(client, database) { isReadOnly in
                    try await database.psql("ALTER SYSTEM SET default_transaction_read_only = \(isReadOnly ? "on" : "off")")
                    try await database.psql("SELECT pg_reload_conf()")
                }
            }
        }
    }
}
