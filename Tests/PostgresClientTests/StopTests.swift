import PostgresClient
import TestSupport
import Testing

@Suite("Cancellation and deadlines")
struct StopTests {
    /// Waits until the server runs a statement that contains the text.
    private func waitUntilRunning(_ text: String, on client: PostgresClient) async throws {
        while true {
            let rows = try await client.query(
                """
                SELECT 1 FROM pg_stat_activity
                WHERE state = 'active' AND pid <> pg_backend_pid() AND query LIKE \("%\(text)%") AND datname = current_database()
                """)
            if !rows.isEmpty { return }
        }
    }

    @Test func `a cancelled query stops at the server`() async throws {
        try await withClient({ $0.cancelGrace = .seconds(25) }) { client in
            let task = Task { try await client.execute("SELECT pg_sleep(100)") }
            try await waitUntilRunning("pg_sleep(100)", on: client)
            task.cancel()
            #expect(await postgresError { try await task.value }?.code == .cancelled)
            let rest = try await client.query(
                "SELECT 1 FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%sleep(100)' AND datname = current_database()")
            #expect(rest.isEmpty)
        }
    }

    @Test func `a query of a cancelled task is not sent`() async throws {
        try await withClient { client in
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                try await client.execute("CREATE TABLE t (a int)")
            }
            #expect(await postgresError { try await task.value }?.code == .cancelled)
            await #expect(throws: PostgresError.self) { try await client.query("SELECT * FROM t") }
        }
    }

    @Test func `a query ends at its deadline`() async throws {
        try await withClient { client in
            let started = ContinuousClock.now
            try await client.execute("SELECT 1")
            let query: PostgresQuery = "SELECT pg_sleep(600)"
            #expect(await postgresError { try await client.query(query.timeout(.seconds(1))) }?.code == .timeout)
            #expect(ContinuousClock.now - started < .seconds(60))
        }
    }

    @Test func `the server ends a statement at its own limit`() async throws {
        try await withClient({ $0.statementTimeout = .milliseconds(100) }) { client in
            let slow = PostgresQuery("SELECT pg_sleep(60)")
            for query in [slow, slow.readOnly()] {
                #expect(await postgresError { try await client.query(query.timeout(.seconds(20))) }?.sqlState == "57014")
            }
        }
    }

    @Test func `waiting for a connection ends at the deadline`() async throws {
        try await withClient({ $0.maxConnections = 1 }) { client in
            try await client.withTransaction { transaction in
                try await transaction.execute("SELECT 1")
                let query: PostgresQuery = "SELECT 1"
                #expect(await postgresError { try await client.query(query.timeout(.milliseconds(50))) }?.code == .unavailable)
            }
            #expect(try await client.query("SELECT 1").count == 1)
        }
    }

    @Test func `waiting for a connection can be cancelled`() async throws {
        try await withClient({ $0.maxConnections = 1 }) { client in
            try await client.withTransaction { transaction in
                try await transaction.execute("SELECT 1")
                let queries = (0..<200).map { _ in Task { try await client.execute("SELECT 1") } }
                let transactions = (0..<20).map { _ in Task { try await client.withTransaction { try await $0.execute("SELECT 1") } } }
                for task in queries + transactions { task.cancel() }
                for task in queries + transactions {
                    #expect(await postgresError { try await task.value }?.code == .cancelled)
                }
            }
            #expect(try await client.query("SELECT 1").count == 1)
        }
    }

    @Test func `a cancel request never stops the next statement`() async throws {
        try await withClient({ $0.maxConnections = 2 }) { client in
            try await race(60) { round in
                let task = Task { try await client.execute("SELECT pg_sleep(0.002)") }
                let delay = Duration.microseconds(200 * (round % 20))
                let canceller = Task {
                    try await Task.sleep(for: delay)
                    task.cancel()
                }
                do {
                    _ = try await task.value
                } catch let error as PostgresError {
                    #expect(error.code == .cancelled)
                }
                try await canceller.value
                // This statement is not cancelled and must never fail.
                try await client.execute("SELECT pg_sleep(0.001)")
            }
        }
    }

    @Test func `waiting for a lock ends at the deadline`() async throws {
        try await withClient({ $0.cancelGrace = .seconds(30) }) { client in
            try await client.execute("CREATE TABLE t (a int)")
            try await client.withTransaction { transaction in
                try await transaction.execute("LOCK TABLE t IN ACCESS EXCLUSIVE MODE")
                let query: PostgresQuery = "INSERT INTO t VALUES (1)"
                // Long enough to open a second connection and for the server to read the statement: it cancels only what it has read.
                #expect(await postgresError { try await client.query(query.timeout(.seconds(1))) }?.code == .timeout)
            }
            #expect(try await client.query("SELECT * FROM t").isEmpty)
        }
    }
}
