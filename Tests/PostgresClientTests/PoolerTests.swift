import TestSupport
import Testing

@testable import PostgresClient

@Suite("Behind a transaction pooler")
struct PoolerTests {
    /// Runs the body with a client behind a pooler, the pooler, and the database behind it.
    private func withPooledClient(
        connections: Int = 2, _ body: (PostgresClient, Pooler, TestDatabase) async throws -> Void
    ) async throws {
        try await withEmptyDatabase { database in
            let pooler = try await Pooler.start(for: database, connections: connections)
            try await withClient(to: pooler.url, { $0.directURL = database.url }) { try await body($0, pooler, database) }
        }
    }

    @Test func `queries and transactions of many tasks share a few server connections and get their own results`() async throws {
        try await withPooledClient { client, _, database in
            try await client.execute("CREATE TABLE numbers (n bigint PRIMARY KEY, text text NOT NULL)")
            try await race(8) { task in
                for step in 0..<25 {
                    let number = task * 25 + step
                    try await client.withTransaction { transaction in
                        try await transaction.execute("INSERT INTO numbers VALUES (\(number), \("text \(number)"))")
                        let count = try await transaction.query("SELECT count(*) FROM numbers WHERE n = \(number)")
                        #expect(try count[0].decode(0, as: Int.self) == 1)
                    }
                    let rows = try await client.query("SELECT text FROM numbers WHERE n = \(number)")
                    #expect(try rows[0].decode(0, as: String.self) == "text \(number)")
                }
            }
            #expect(try await database.psql("SELECT count(*) FROM numbers").hasPrefix("200"))
        }
    }

    @Test func `enqueued statements run on the server connection of their transaction`() async throws {
        try await withPooledClient { client, _, database in
            try await client.execute("CREATE TABLE steps (task bigint, step bigint, backend bigint DEFAULT pg_backend_pid())")
            try await race(20) { task in
                try await client.withTransaction { transaction in
                    try await transaction.enqueue("INSERT INTO steps VALUES (\(task), 1)")
                    try await transaction.enqueue("INSERT INTO steps VALUES (\(task), 2)")
                    let rows = try await transaction.query("SELECT count(*) FROM steps WHERE task = \(task)")
                    #expect(try rows[0].decode(0, as: Int.self) == 2)
                    try await transaction.enqueue("INSERT INTO steps VALUES (\(task), 3)")
                }
            }
            let torn = try await database.psql(
                """
                SELECT count(*) FROM (SELECT FROM steps GROUP BY task HAVING count(*) <> 3 OR count(DISTINCT backend) > 1) t
                """)
            #expect(torn.hasPrefix("0"))
        }
    }

    @Test func `a failing statement does not fail others`() async throws {
        try await withPooledClient(connections: 1) { client, _, _ in
            try await race(50) { number in
                let divisor = number % 5
                do {
                    let rows = try await client.query("SELECT \(number) / \(divisor)")
                    #expect(try rows[0].decode(0, as: Int.self) == number / divisor)
                } catch let error as PostgresError {
                    #expect(divisor == 0 && error.sqlState == "22012", "\(error)")
                }
            }
        }
    }

    @Test func `notifications arrive on the direct connection`() async throws {
        try await withPooledClient { client, _, _ in
            var notifications = client.notifications(on: "orders").makeAsyncIterator()
            #expect(await notifications.next()?.kind == .listening)
            try await client.execute("SELECT pg_notify('orders', 'first')")
            #expect(await notifications.next()?.payload == "first")
        }
    }

    @Test func `the client leaves no settings and statements in the sessions of its server connections`() async throws {
        try await withPooledClient(connections: 1) { client, pooler, _ in
            try await client.execute("SELECT 1")
            let timeout = try await CommandLineTool.run(["psql", "-Atc", "SHOW statement_timeout", pooler.url])
            let statements = try await CommandLineTool.run([
                "psql", "-Atc", "SELECT count(*) FROM pg_prepared_statements", pooler.url,
            ])
            #expect(timeout == "0\n" && statements == "0\n")
        }
    }

    @Test func `a session is refused behind a pooler`() async throws {
        try await withPooledClient { client, _, _ in
            #expect(await postgresError { try await client.withSession { _ in } }?.code == .configuration)
        }
    }
}

@Suite("The two addresses of a database")
struct AddressTests {
    @Test(
        arguments: [
            (nil, false), ("postgresql://a@server:5432/heliograph", false), ("postgresql://b@server:5432/other?sslmode=require", false),
            ("host=server port=5432 dbname=heliograph", false),
            ("postgresql://a@server:6432/heliograph", true), ("postgresql://a@other:5432/heliograph", true),
        ] as [(String?, Bool)])
    func `a direct address means a pooler only if it leads elsewhere`(directURL: String?, isPooled: Bool) {
        var configuration = PostgresConfiguration(url: "postgresql://a@server:5432/heliograph")
        configuration.directURL = directURL
        #expect(configuration.isPooled == isPooled)
    }

    @Test func `with the same address twice statements stay prepared, and the limits are in force`() async throws {
        try await withEmptyDatabase { database in
            try await withClient(to: database.url, { $0.directURL = database.url + "?connect_timeout=3" }) { client in
                try await client.withTransaction { transaction in
                    _ = try await transaction.query("SELECT 1")
                    let limits = try await transaction.query(
                        "SELECT current_setting('statement_timeout'), current_setting('idle_in_transaction_session_timeout')")
                    #expect(try limits[0].decode(0, as: String.self) == "1min")
                    #expect(try limits[0].decode(1, as: String.self) == "8s")
                    #expect(try await transaction.query("SELECT FROM pg_prepared_statements WHERE statement = 'SELECT 1'").count == 1)
                }
            }
        }
    }

    @Test func `options of the connection string are kept, and replace limits of the client`() async throws {
        try await withEmptyDatabase { database in
            try await withClient(to: database.url + "?options=-c%20statement_timeout%3D5s%20-c%20work_mem%3D5MB") { client in
                let values: [String] = try await client.query(
                    """
                    SELECT current_setting(name) AS value
                    FROM unnest(ARRAY['statement_timeout', 'work_mem', 'idle_in_transaction_session_timeout']) name
                    """
                ).column("value")
                #expect(values == ["5s", "5MB", "8s"])
            }
        }
    }
}
