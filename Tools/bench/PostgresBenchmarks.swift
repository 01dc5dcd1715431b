import Foundation
import Logging
import PostgresClient
import TestSupport
import WireFormat

/// Measures the Postgres client against pgbench and libpq, on the same server and with the same number of connections.
///
/// The two alternate, and the ratio is the median over the rounds, because single values vary on a shared machine.
func benchmarkPostgres(connections: Int = 4, rounds: Int = 5, secondsPerRound: Int = 2) async throws -> [Figure] {
    let bench = try await PostgresBench.start(connections: connections, rounds: rounds, seconds: secondsPerRound)
    let figures = try await [bench.sharedReads(), bench.singleReads(), bench.batchesAgainstPgbench(), bench.batchesAgainstLibpq()]
    await bench.client.shutdown()
    await bench.server.stop()
    return figures
}

private struct PostgresBench {
    static let accounts = 100_000
    static let readers = 64
    static let batchSize = 100

    let server: PostgresServer
    let client: PostgresClient
    let connections: Int
    let rounds: Int
    let seconds: Int

    /// Starts a server whose commits wait for the disk, and creates the tables.
    static func start(connections: Int, rounds: Int, seconds: Int) async throws -> PostgresBench {
        let server = try await PostgresServer.start(fsync: true)
        var configuration = PostgresConfiguration(url: server.url())
        configuration.maxConnections = connections
        var logger = Logger(label: "bench")
        logger.logLevel = .error
        let client = try PostgresClient(configuration: configuration, logger: logger)
        try await CommandLineTool.run([
            "pgbench", "--initialize", "--quiet", "--scale=\(accounts / 100_000)", server.url(),
        ])
        try await server.psql(
            """
            CREATE TABLE bench_inbox (consumer text, message_id uuid, PRIMARY KEY (consumer, message_id));
            CREATE TABLE bench_sessions (id bigint PRIMARY KEY, state int NOT NULL DEFAULT 0);
            CREATE TABLE bench_outbox (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, message_id uuid UNIQUE, body bytea);
            INSERT INTO bench_sessions SELECT n FROM generate_series(0, \(accounts - 1)) n;
            ANALYZE;
            """)
        return PostgresBench(server: server, client: client, connections: connections, rounds: rounds, seconds: seconds)
    }

    // MARK: Reads

    /// Measures 64 tasks whose point queries are declared read-only, so that they share connections and round trips.
    func sharedReads() async throws -> Figure {
        try await compareReads("postgres_point_queries_per_second", bar: 1.0) { $0.readOnly() }
    }

    /// Measures the same without the declaration: one query per connection at a time, one round trip per query, as in pgbench.
    func singleReads() async throws -> Figure {
        try await compareReads("postgres_unshared_queries_per_second", bar: nil) { $0 }
    }

    private func compareReads(
        _ name: String, bar: Double?, _ adjust: @escaping @Sendable (PostgresQuery) -> PostgresQuery
    ) async throws -> Figure {
        let client = client
        return try await compare(name, unit: "queries/s", reference: "pgbench -S -M prepared", bar: bar) {
            try await rate(tasks: Self.readers) { number in
                let account = Int32(number &* 7919 % Self.accounts + 1)
                let rows = try await client.query(adjust("SELECT abalance FROM pgbench_accounts WHERE aid = \(account)"))
                _ = try rows[0].decode(0, as: Int32.self)
            }
        } against: {
            try await pgbench(["--select-only"])
        }
    }

    // MARK: Batches

    /// Returns the statement by which a consumer handles a batch: inbox, effect and outbox. Duplicates have no effect.
    private static func batch(_ input: String) -> String {
        """
        WITH input AS MATERIALIZED (\(input)),
        fresh AS (
            INSERT INTO bench_inbox SELECT 'bench', message_id FROM input ON CONFLICT DO NOTHING RETURNING message_id
        ), effect AS (
            UPDATE bench_sessions SET state = state + 1 FROM input JOIN fresh USING (message_id)
            WHERE bench_sessions.id = input.session_id
        )
        INSERT INTO bench_outbox (message_id, body)
        SELECT gen_random_uuid(), body FROM input JOIN fresh USING (message_id)
        """
    }

    private static let batchOfArrays = batch(
        "SELECT * FROM unnest($1::uuid[], $2::bigint[], $3::bytea[]) AS t(message_id, session_id, body)")
    private static let body = [UInt8](repeating: 120, count: 70)

    /// Executes batches of 100 messages, each batch a transaction; a message is an inbox row, a state change and an outbox row. Returns the
    /// messages per second.
    private func batches() async throws -> Double {
        let client = client
        let batchesPerSecond = try await rate(tasks: 2 * connections) { _ in
            // By chance, as pgbench does: tasks that walk through the same sequence wait for each other's rows.
            let first = Int.random(in: 0..<Self.accounts / Self.batchSize) * Self.batchSize
            var query = PostgresQuery(unescaped: Self.batchOfArrays)
            query.bind((0..<Self.batchSize).map { _ in UUIDv7.generate() })
            query.bind((0..<Self.batchSize).map { first + $0 })
            query.bind([[UInt8]](repeating: Self.body, count: Self.batchSize))
            try await client.execute(query)
        }
        return batchesPerSecond * Double(Self.batchSize)
    }

    /// Measures batches against a C program with the same statement and the same parameters.
    func batchesAgainstLibpq() async throws -> Figure {
        let reference = try await ReferenceProgram("batch_reference", libraries: ["pq"])
        defer { reference.remove() }
        return try await compare(
            "postgres_batched_against_libpq", unit: "messages/s", reference: "the same in C on libpq", bar: 0.8, batches
        ) {
            try await reference.run(
                server.url(), Self.batchOfArrays, "\(connections)", "\(seconds)", "\(Self.batchSize)",
                "\(Self.accounts / Self.batchSize)") * Double(Self.batchSize)
        }
    }

    /// Measures batches against pgbench, which has no parameters of such a size: it makes the rows in the statement.
    func batchesAgainstPgbench() async throws -> Figure {
        try await compare(
            "postgres_batched_messages_per_second", unit: "messages/s", reference: "the same statement in pgbench", bar: 0.7, batches
        ) {
            let input = """
                SELECT gen_random_uuid() AS message_id, :first * \(Self.batchSize)::bigint + n AS session_id,
                convert_to(repeat('x', \(Self.body.count)), 'UTF8') AS body FROM generate_series(0, \(Self.batchSize - 1)) n
                """
            let script = """
                \\set first random(0, \(Self.accounts / Self.batchSize - 1))
                \(Self.batch(input).replacingOccurrences(of: "\n", with: " "));
                """
            let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).pgbench")
            try script.write(to: file, atomically: true, encoding: .utf8)
            defer { try? FileManager.default.removeItem(at: file) }
            return try await pgbench(["--file=\(file.path)"]) * Double(Self.batchSize)
        }
    }

    // MARK: Measuring

    /// Measures both sides in alternating rounds.
    private func compare(
        _ name: String, unit: String, reference: String, bar: Double?,
        _ ours: () async throws -> Double, against theirs: () async throws -> Double
    ) async throws -> Figure {
        var pairs: [(ours: Double, theirs: Double)] = []
        for _ in 0..<rounds {
            let reference = try await theirs()
            pairs.append((try await ours(), reference))
        }
        return Figure(
            name, pairs.map(\.ours).median, unit: unit, reference: "\(reference), \(connections) connections",
            referenceValue: pairs.map(\.theirs).median, ratios: pairs.map { $0.ours / $0.theirs }, bar: bar)
    }

    /// Returns the runs of `work` per second by concurrent tasks, which run on the client's own thread, as handlers may.
    private func rate(tasks: Int, _ work: @escaping @Sendable (Int) async throws -> Void) async throws -> Double {
        let start = ContinuousClock.now
        let end = start + .seconds(seconds)
        let total = try await withThrowingTaskGroup(of: Int.self) { group in
            for task in 0..<tasks {
                group.addTask(executorPreference: client.executor) {
                    var count = 0
                    while ContinuousClock.now < end {
                        try await work(task &* 1_000_003 &+ count)
                        count += 1
                    }
                    return count
                }
            }
            return try await group.reduce(0, +)
        }
        return Double(total) / ((ContinuousClock.now - start) / .seconds(1))
    }

    /// Returns the transactions per second that pgbench reports.
    private func pgbench(_ arguments: [String]) async throws -> Double {
        let output = try await CommandLineTool.run(
            [
                "pgbench", "--no-vacuum", "--protocol=prepared", "--client=\(connections)", "--jobs=\(min(2, connections))",
                "--time=\(seconds)",
            ] + arguments + [server.url()])
        let line = output.split(separator: "\n").last { $0.hasPrefix("tps = ") }
        guard let text = line?.split(separator: " ").dropFirst(2).first, let rate = Double(text) else {
            throw UnexpectedOutput(output: output)
        }
        return rate
    }
}

/// Thrown when pgbench prints no rate.
private struct UnexpectedOutput: Error {
    let output: String
}
