import Logging
import PostgresClient
import ServiceLifecycle
import TestSupport
import Testing

@Suite("Shutdown")
struct ShutdownTests {
    @Test func `shutdown lets work in flight finish and refuses new work`() async throws {
        try await withEmptyDatabase { database in
            var configuration = PostgresConfiguration(url: database.url)
            configuration.drainTimeout = .seconds(60)
            let client = try PostgresClient(configuration: configuration, logger: quietLogger)
            try await client.execute("CREATE TABLE t (a int)")
            let (started, signal) = AsyncStream.makeStream(of: Void.self)
            let transaction = Task {
                try await client.withTransaction { transaction in
                    try await transaction.execute("INSERT INTO t VALUES (1)")
                    signal.yield()
                    try await transaction.execute("SELECT pg_sleep(0.2)")
                    try await transaction.execute("INSERT INTO t VALUES (2)")
                }
            }
            for await _ in started { break }
            async let closed: Void = client.shutdown()
            try await transaction.value
            await closed
            #expect(await postgresError { try await client.query("SELECT 1") }?.code == .closed)
            #expect(try await database.psql("SELECT count(*) FROM t") == "2")
        }
    }

    @Test func `shutdown does not wait longer than the drain timeout`() async throws {
        try await withEmptyDatabase { database in
            var configuration = PostgresConfiguration(url: database.url)
            configuration.drainTimeout = .milliseconds(100)
            let client = try PostgresClient(configuration: configuration, logger: quietLogger)
            try await client.execute("SELECT 1")
            let stuck = Task { try await client.execute("SELECT pg_sleep(60)") }
            try await eventually("the query runs") {
                try await database.psql(
                    """
                    SELECT 1 FROM pg_stat_activity
                    WHERE query LIKE '%sleep(60)' AND state = 'active' AND datname = current_database()
                    """) == "1"
            }
            await client.shutdown()
            #expect(await postgresError { try await stuck.value }?.code == .connectionLost)
        }
    }

    @Test func `as a service the client ends on graceful shutdown, and closes its connections`() async throws {
        try await withEmptyDatabase { database in
            let client = try PostgresClient(configuration: PostgresConfiguration(url: database.url), logger: quietLogger)
            let group = ServiceGroup(services: [client], logger: quietLogger)
            let running = Task { try await group.run() }
            _ = try await client.query("SELECT 1")
            await group.triggerGracefulShutdown()
            try await running.value
            try await eventually("no connection is left") {
                try await database.psql("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()") == "1"
            }
        }
    }

    @Test func `a released client closes its connections`() async throws {
        try await withEmptyDatabase { database in
            do {
                let client = try PostgresClient(configuration: PostgresConfiguration(url: database.url), logger: quietLogger)
                _ = try await client.query("SELECT 1")
            }
            try await eventually("no connection is left") {
                try await database.psql("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()") == "1"
            }
        }
    }
}
