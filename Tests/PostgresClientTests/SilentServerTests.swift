import TestSupport
import Testing

@testable import PostgresClient

@Suite("Connections that fall silent while new ones work")
struct SilentServerTests {
    /// Runs the body with a client whose connections lead through a proxy, with short limits.
    private func withProxiedClient(
        _ adjust: (inout PostgresConfiguration) -> Void = { _ in },
        _ body: (PostgresClient, FaultProxy, TestDatabase) async throws -> Void
    ) async throws {
        try await withEmptyDatabase { database in
            let proxy = try await FaultProxy.start(to: .tcp(port: database.server.port))
            let url = "postgresql://heliograph@127.0.0.1:\(proxy.port)/\(database.name)"
            try await finally(proxy.stop) {
                try await withClient(
                    to: url,
                    {
                        $0.maxConnections = 2
                        $0.queryTimeout = .milliseconds(400)
                        $0.cancelGrace = .milliseconds(300)
                        adjust(&$0)
                    }
                ) { try await body($0, proxy, database) }
            }
        }
    }

    /// Makes all connections of the pool, and leaves them without work.
    private func fill(_ client: PostgresClient) async throws {
        let query = PostgresQuery("SELECT pg_sleep(0.02)").timeout(.seconds(20))
        try await race(2) { _ in _ = try await client.query(query) }
    }

    @Test func `reads that get no answer are repeated on new connections`() async throws {
        try await withProxiedClient({ $0.queryTimeout = .seconds(20) }) { client, proxy, _ in
            try await fill(client)
            try await proxy.freeze()
            let read = PostgresQuery("SELECT 1").readOnly()
            // Only the shortest deadline passes: the others are answered by the connections that replace the silent ones.
            let first = Task { try await client.query(read.timeout(.seconds(1))) }
            let others = (0..<10).map { _ in Task { try await client.query(read) } }
            #expect(await postgresError { try await first.value }?.code == .connectionLost)
            for other in others { _ = try await other.value }
        }
    }

    @Test func `a connection whose reads were all cancelled by their callers is replaced as well`() async throws {
        try await withProxiedClient({ $0.maxConnections = 1 }) { client, proxy, _ in
            _ = try await client.query("SELECT 1")
            try await proxy.freeze()
            let read = Task { try await client.query(PostgresQuery("SELECT 1").readOnly()) }
            try await eventually("the read was sent") { await client.core.pool.sentCount == 1 }
            let waiting = Task { try await client.query(PostgresQuery("SELECT 2").timeout(.seconds(20))) }
            read.cancel()
            #expect(await postgresError { try await read.value }?.code == .cancelled)
            #expect(try await waiting.value.count == 1)
        }
    }

    @Test func `a write that gets no answer fails as a lost connection, not as a timeout of its own`() async throws {
        try await withProxiedClient { client, proxy, _ in
            try await fill(client)
            try await proxy.freeze()
            let error = await postgresError { try await client.execute("CREATE TABLE t (n int)") }
            #expect(error?.code == .connectionLost)
            #expect(error?.fault == .lostConnection)
        }
    }

    @Test func `one silent connection costs those without work their trust, so that the next statement succeeds`() async throws {
        try await withProxiedClient { client, proxy, _ in
            try await fill(client)
            try await proxy.freeze()
            _ = await postgresError { try await client.execute("SELECT 1") }
            // The limit of 400 ms is that of the silent one: to connect again may take longer.
            let next = PostgresQuery("SELECT 1").timeout(.seconds(20))
            #expect(try await client.query(next).count == 1)
            #expect(try await client.query(next).count == 1)
        }
    }

    @Test func `a transaction ends with its silent connection, and the next one has another`() async throws {
        try await withProxiedClient { client, proxy, _ in
            let error = await postgresError {
                try await client.withTransaction { transaction in
                    try await transaction.execute("SELECT 1")
                    try await proxy.freeze()
                    try await transaction.execute("SELECT 2")
                }
            }
            #expect(error?.fault == .lostConnection)
            // One that waits for a new connection has the limit of 400 ms, too.
            try await eventually("a transaction has another connection") {
                await postgresError { _ = try await client.withTransaction { try await $0.execute("SELECT 3") } } == nil
            }
        }
    }

    @Test func `a silent connection for LISTEN is replaced, and listens again`() async throws {
        try await withProxiedClient({ $0.listenProbeInterval = .milliseconds(100) }) { client, proxy, database in
            var notifications = client.notifications(on: "news").makeAsyncIterator()
            #expect(await notifications.next()?.kind == .listening)
            try await proxy.freeze()
            #expect(await notifications.next()?.kind == .listening)
            try await database.psql("NOTIFY news, 'again'")
            #expect(await notifications.next()?.payload == "again")
        }
    }

    @Test func `a slow statement is cancelled at its deadline and its connection stays`() async throws {
        try await withProxiedClient({
            $0.maxConnections = 1
            $0.cancelGrace = .seconds(20)
        }) { client, _, _ in
            let backend = PostgresQuery("SELECT pg_backend_pid() AS pid")
            let before: [Int] = try await client.query(backend).column("pid")
            for slow: PostgresQuery in ["SELECT pg_sleep(60)", PostgresQuery("SELECT pg_sleep(60)").readOnly()] {
                let error = await postgresError { try await client.query(slow) }
                #expect(error?.code == .timeout)
                #expect(error?.fault == .message)
            }
            #expect(try await client.query(backend.timeout(.seconds(20))).column("pid") == before)
        }
    }

    @Test func `a read behind a slow one gets its answer`() async throws {
        try await withProxiedClient({
            $0.maxConnections = 1
            $0.cancelGrace = .seconds(20)
        }) { client, _, _ in
            let slow = Task { try await client.query(PostgresQuery("SELECT pg_sleep(60)").readOnly()) }
            let behind = Task { try await client.query(PostgresQuery("SELECT 1").readOnly().timeout(.seconds(20))) }
            let rows = try await behind.value
            #expect(rows.count == 1)
            #expect(await postgresError { try await slow.value }?.code == .timeout)
        }
    }

    @Test func `a read behind a slow one until its own deadline fails as unavailable, not as slow`() async throws {
        try await withProxiedClient({
            $0.maxConnections = 1
            $0.cancelGrace = .seconds(20)
        }) { client, _, _ in
            _ = try await client.query("SELECT 1")
            let slow = Task { try await client.query(PostgresQuery("SELECT pg_sleep(60)").readOnly()) }
            try await eventually("the slow one was sent") { await client.core.pool.sentCount == 1 }
            let read = PostgresQuery("SELECT 1").readOnly().timeout(.milliseconds(100))
            #expect(await postgresError { try await client.query(read) }?.code == .unavailable)
            #expect(await postgresError { try await slow.value }?.code == .timeout)
        }
    }
}

extension ConnectionPool {
    /// The number of units that were sent and not answered.
    fileprivate var sentCount: Int { workers.reduce(0) { $0 + $1.inFlight } }
}
