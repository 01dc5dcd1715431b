import Logging
import PostgresClient
import Synchronization
import TestSupport
import Testing

@Suite("Pool")
struct PoolTests {
    /// Occupies the only connection until `release` yields.
    private func occupied(_ client: PostgresClient) async -> (task: Task<Void, any Error>, release: AsyncStream<Void>.Continuation) {
        let held = AsyncStream.makeStream(of: Void.self)
        let released = AsyncStream.makeStream(of: Void.self)
        let task = Task {
            try await client.withTransaction { transaction in
                try await transaction.execute("SELECT 1")
                held.continuation.yield()
                for await _ in released.stream { break }
            }
        }
        for await _ in held.stream { break }
        return (task, released.continuation)
    }

    @Test func `work beyond the limit of the queue is refused at once`() async throws {
        try await withClient({
            $0.maxConnections = 1
            $0.maxWaiting = 10
        }) { client in
            let holder = await occupied(client)
            let outcomes = AsyncStream.makeStream(of: PostgresError.Code?.self)
            let tasks = (0..<15).map { _ in
                Task {
                    do throws(PostgresError) {
                        try await client.execute("SELECT 1")
                        outcomes.continuation.yield(nil)
                    } catch {
                        outcomes.continuation.yield(error.code)
                    }
                }
            }
            var refused = 0
            var answered = 0
            for await outcome in outcomes.stream {
                if outcome == .queueFull { refused += 1 } else if outcome == nil { answered += 1 }
                if refused == 5 { holder.release.yield() }
                if refused + answered == 15 { break }
            }
            #expect(refused == 5)
            #expect(answered == 10)
            for task in tasks { await task.value }
            try await holder.task.value
        }
    }

    @Test func `waiting work is served in the order of arrival`() async throws {
        try await withClient({ $0.maxConnections = 1 }) { client in
            try await client.execute("CREATE TABLE t (n bigint GENERATED ALWAYS AS IDENTITY, arrival bigint)")
            let holder = await occupied(client)
            // One thread submits all units, so that the order of arrival is known.
            let submitter = Task(executorPreference: client.executor) {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for number in 0..<40 {
                        group.addTask(executorPreference: client.executor) {
                            if number.isMultiple(of: 3) {
                                try await client.withTransaction {
                                    _ = try await $0.execute("INSERT INTO t (arrival) VALUES (\(number))")
                                }
                            } else {
                                try await client.execute("INSERT INTO t (arrival) VALUES (\(number))")
                            }
                        }
                    }
                    try await group.waitForAll()
                }
            }
            holder.release.yield()
            try await holder.task.value
            try await submitter.value
            let arrivals = try await client.query("SELECT arrival FROM t ORDER BY n").map { try $0.decode(0, as: Int.self) }
            #expect(arrivals == Array(0..<40))
        }
    }

    @Test func `reads do not starve a transaction`() async throws {
        try await withClient({ $0.maxConnections = 1 }) { client in
            let readers = (0..<20).map { _ in
                Task {
                    while !Task.isCancelled { _ = try? await client.query(PostgresQuery("SELECT 1").readOnly()) }
                }
            }
            for _ in 0..<10 { try await client.withTransaction { _ = try await $0.query("SELECT 1") } }
            for reader in readers { reader.cancel() }
            for reader in readers { await reader.value }
        }
    }

    @Test func `values larger than every buffer are sent and received on several connections at once`() async throws {
        try await withClient { client in
            let blob = (0..<12_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
            try await race(4) { _ in
                let returned: [UInt8] = try await client.query(PostgresQuery("SELECT \(blob)").readOnly())[0].decode(0)
                #expect(returned == blob)
            }
        }
    }

    @Test func `more statements than a connection keeps prepared can be run`() async throws {
        try await withClient({
            $0.maxConnections = 1
            $0.maxPreparedStatements = 5
        }) { client in
            for round in 0..<3 {
                for number in 0..<20 {
                    let rows = try await client.query("SELECT \(unescaped: String(number)) + \(round)")
                    #expect(try rows[0].decode(0, as: Int.self) == number + round)
                }
            }
            #expect(try await client.query("SELECT count(*) FROM pg_prepared_statements")[0].decode(0, as: Int.self) <= 5)
        }
    }

    @Test func `a statement that was deallocated, or whose columns changed, is prepared again`() async throws {
        try await withClient({ $0.maxConnections = 1 }) { client in
            try await client.execute("CREATE TABLE t (a int)")
            try await client.execute("INSERT INTO t VALUES (1)")
            _ = try await client.query("SELECT * FROM t")
            try await client.execute("DEALLOCATE ALL")
            _ = try await client.query("SELECT * FROM t")
            try await client.execute("ALTER TABLE t ADD COLUMN b text DEFAULT 'new'")
            let row = try await client.query("SELECT * FROM t")[0]
            #expect(try row.decode("b", as: String.self) == "new")
            #expect(try await client.query(PostgresQuery("SELECT * FROM t").readOnly()).count == 1)
        }
    }

    @Test func `a transaction whose statement's columns changed fails as if its connection were lost, and the next one succeeds`()
        async throws
    {
        try await withClient({ $0.maxConnections = 1 }) { client in
            try await client.execute("CREATE TABLE t (a int)")
            let select: @Sendable () async throws -> Int = {
                try await client.withTransaction { try await $0.query("SELECT * FROM t").count }
            }
            #expect(try await select() == 0)
            try await client.execute("ALTER TABLE t ADD COLUMN b text")
            let error = await #expect(throws: PostgresError.self) { try await select() }
            #expect(error?.fault == .lostConnection)
            #expect(try await select() == 0)
        }
    }

    @Test func `COPY is refused, and the next query gets a new connection`() async throws {
        try await withClient({ $0.maxConnections = 1 }) { client in
            await #expect(throws: PostgresError.self) { try await client.execute("COPY (SELECT 1) TO STDOUT") }
            let rows = try await client.query("SELECT 1")
            #expect(rows.count == 1)
        }
    }

    @Test func `queries work over TCP`() async throws {
        let server = try await PostgresServer.shared()
        try await withClient(to: server.tcpURL()) { client in
            let rows = try await client.query("SELECT inet_server_addr() IS NOT NULL")
            #expect(try rows[0].decode(0, as: Bool.self))
        }
    }

    @Test func `the error for an unreachable server has the connection error as its cause`() async throws {
        try await withClient(to: "host=/nowhere dbname=none") { client in
            let query: PostgresQuery = "SELECT 1"
            let error = await #expect(throws: PostgresError.self) { try await client.query(query.timeout(.seconds(1))) }
            #expect(error?.code == .unavailable)
            #expect((error?.underlying as? PostgresError)?.code == .connectionLost)
            _ = try? await client.query(query.timeout(.milliseconds(1)))
        }
    }
}

@Suite("Configuration")
struct ConfigurationTests {
    @Test(arguments: ["postgresql://host:port:5432/x?y", "host", "nonsense=1", "host='open"])
    func `a connection string that cannot be parsed is refused at once, without quoting it`(_ url: String) {
        let error = #expect(throws: PostgresError.self) {
            try PostgresClient(configuration: PostgresConfiguration(url: url), logger: quietLogger)
        }
        #expect(error?.code == .configuration)
        #expect(error?.description.contains("open") == false)
    }

    @Test func `a limit below one is refused with its name`() {
        var configuration = PostgresConfiguration(url: "dbname=postgres")
        configuration.maxConnections = 0
        let error = #expect(throws: PostgresError.self) {
            try PostgresClient(configuration: configuration, logger: quietLogger)
        }
        #expect(error?.message.contains("maxConnections") == true)
    }
}
