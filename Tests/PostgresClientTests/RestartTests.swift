import Foundation
import PostgresClient
import Synchronization
import TestSupport
import Testing

@Suite("Broken connections")
struct RestartTests {
    /// Counts the numbers to write, and records those whose write was acknowledged.
    private final class Progress: Sendable {
        private let state = Mutex((last: 0, acknowledged: [Int]()))

        func next() -> Int {
            state.withLock { state in
                state.last += 1
                return state.last
            }
        }

        func acknowledge(_ number: Int) { state.withLock { $0.acknowledged.append(number) } }

        var acknowledged: [Int] { state.withLock(\.acknowledged) }
    }

    @Test func `acknowledged writes survive a crash of the server under load`() async throws {
        let server = try await PostgresServer.start()
        try await withClient(to: server.url()) { client in
            try await client.execute("CREATE TABLE t (a bigint PRIMARY KEY)")
            let progress = Progress()
            let writers = (0..<32).map { _ in
                Task {
                    while !Task.isCancelled {
                        let number = progress.next()
                        do throws(PostgresError) {
                            _ = try await client.query(PostgresQuery("SELECT \(number)").readOnly())
                            try await client.execute("INSERT INTO t VALUES (\(number))")
                            progress.acknowledge(number)
                        } catch {
                            #expect(error.isRetryable || error.code == .cancelled, "\(error)")
                        }
                    }
                }
            }
            for round in 1...2 {
                try await eventually("writes succeed") { progress.acknowledged.count > 200 * round }
                await server.kill()
                let before = progress.acknowledged.count
                try await server.start()
                try await eventually("writes succeed again") { progress.acknowledged.count > before + 200 }
            }
            for writer in writers { writer.cancel() }
            for writer in writers { await writer.value }
            let stored = Set(try await client.query("SELECT a FROM t").map { try $0.decode(0, as: Int.self) })
            let lost = progress.acknowledged.filter { !stored.contains($0) }
            #expect(lost.isEmpty, "acknowledged, but not stored: \(lost)")
        }
        await server.stop()
    }

    @Test func `a terminated backend fails its query, and the next gets a new connection`() async throws {
        try await withClient({ $0.maxConnections = 2 }) { client in
            let task = Task { try await client.execute("SELECT pg_sleep(77)") }
            try await eventually("the backend is terminated") {
                try await client.query(
                    """
                    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                    WHERE query = 'SELECT pg_sleep(77)' AND state = 'active' AND datname = current_database()
                    """
                ).count == 1
            }
            let error = await #expect(throws: PostgresError.self) { try await task.value }
            #expect(error?.code == .connectionLost)
            #expect((error?.underlying as? PostgresError)?.sqlState == "57P01")
            #expect(try await client.query("SELECT 1").count == 1)
        }
    }

    @Test func `an idle connection that broke is replaced without an error`() async throws {
        try await withClient { client in
            let pid = try await client.query("SELECT pg_backend_pid()")[0].decode(0, as: Int32.self)
            try await withClientBeside(client) { _ = try await $0.query("SELECT pg_terminate_backend(\(pid))") }
            // The row in pg_stat_activity disappears before the backend closes its connection: wait for the end of the process.
            try await eventually("the backend is gone") { kill(pid, 0) != 0 && errno == ESRCH }
            #expect(try await client.query("SELECT 1").count == 1)
        }
    }

    /// Runs the body with a second client on the same database.
    private func withClientBeside(_ client: PostgresClient, _ body: (PostgresClient) async throws -> Void) async throws {
        let name = try await client.query("SELECT current_database()")[0].decode(0, as: String.self)
        let url = try await PostgresServer.shared().url(database: name)
        try await withClient(to: url, { $0.applicationName = "other" }, body)
    }

    @Test func `a transaction whose connection breaks fails as a whole`() async throws {
        try await withClient { client in
            try await client.execute("CREATE TABLE t (a int)")
            let error = await #expect(throws: PostgresError.self) {
                try await client.withTransaction { transaction in
                    let pid = try await transaction.query("SELECT pg_backend_pid()")[0].decode(0, as: Int.self)
                    try await transaction.execute("INSERT INTO t VALUES (1)")
                    _ = try await client.query("SELECT pg_terminate_backend(\(Int32(pid)))")
                    try await transaction.execute("INSERT INTO t VALUES (2)")
                }
            }
            #expect(error?.code == .connectionLost)
            #expect(try await client.query("SELECT * FROM t").isEmpty)
        }
    }
}
