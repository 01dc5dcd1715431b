import PostgresClient
import TestSupport
import Testing

@Suite("Transactions")
struct TransactionTests {
    struct Refused: Error {}

    private func withTable(_ body: (PostgresClient) async throws -> Void) async throws {
        try await withClient { client in
            try await client.execute("CREATE TABLE t (a int PRIMARY KEY)")
            try await body(client)
        }
    }

    private func expectCount(
        _ expected: Int, _ client: PostgresClient, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let count: Int = try await client.query("SELECT count(*) FROM t")[0].decode(0)
        #expect(count == expected, sourceLocation: sourceLocation)
    }

    @Test func `a transaction commits the work of its body`() async throws {
        try await withTable { client in
            let answer = try await client.withTransaction { transaction in
                try await transaction.execute("INSERT INTO t VALUES (\(1))")
                try await transaction.execute("INSERT INTO t VALUES (\(2))")
                try await expectCount(0, client)
                return "done"
            }
            #expect(answer == "done")
            try await expectCount(2, client)
        }
    }

    @Test func `a body that throws rolls the transaction back`() async throws {
        try await withTable { client in
            await #expect(throws: Refused.self) {
                try await client.withTransaction { transaction in
                    try await transaction.execute("INSERT INTO t VALUES (1)")
                    throw Refused()
                }
            }
            try await expectCount(0, client)
        }
    }

    @Test func `a failed statement rolls the transaction back, and its error is thrown`() async throws {
        try await withTable { client in
            let error = await #expect(throws: PostgresError.self) {
                try await client.withTransaction { transaction in
                    try await transaction.execute("INSERT INTO t VALUES (1)")
                    try await transaction.execute("INSERT INTO t VALUES (1)")
                }
            }
            #expect(error?.isUniqueViolation == true)
            try await expectCount(0, client)
        }
    }

    @Test func `a transaction whose body ignores an error throws instead of committing`() async throws {
        try await withTable { client in
            let error = await #expect(throws: PostgresError.self) {
                try await client.withTransaction { transaction in
                    try await transaction.execute("INSERT INTO t VALUES (1)")
                    _ = try? await transaction.execute("INSERT INTO t VALUES (1)")
                }
            }
            #expect(error?.sqlState == "25P02")
            try await expectCount(0, client)
        }
    }

    @Test func `cancelling the task rolls the transaction back`() async throws {
        try await withTable { client in
            let started = AsyncStream.makeStream(of: Void.self)
            let task = Task {
                try await client.withTransaction { transaction in
                    try await transaction.execute("INSERT INTO t VALUES (1)")
                    started.continuation.yield()
                    try await transaction.execute("SELECT pg_sleep(60)")
                }
            }
            for await _ in started.stream { break }
            task.cancel()
            #expect(await postgresError { try await task.value }?.code == .cancelled)
            try await expectCount(0, client)
        }
    }

    @Test func `a body that ignores its cancellation is rolled back`() async throws {
        try await withTable { client in
            let task = Task {
                try await client.withTransaction { transaction in
                    try await transaction.execute("INSERT INTO t VALUES (1)")
                    withUnsafeCurrentTask { $0?.cancel() }
                }
            }
            #expect(await postgresError { try await task.value }?.code == .cancelled)
            try await expectCount(0, client)
        }
    }

    @Test func `queries of a transaction are refused after its body has returned`() async throws {
        try await withTable { client in
            let escaped = try await client.withTransaction { transaction in
                try await transaction.execute("INSERT INTO t VALUES (1)")
                return transaction
            }
            #expect(await postgresError { try await escaped.query("SELECT 1") }?.code == .closed)
        }
    }

    @Test func `an empty transaction returns the result or the error of its body`() async throws {
        try await withTable { client in
            #expect(try await client.withTransaction { _ in 7 } == 7)
            await #expect(throws: Refused.self) { try await client.withTransaction { _ in throw Refused() } }
            try await expectCount(0, client)
        }
    }

    @Test func `an asynchronous commit applies only to the transaction that requests it`() async throws {
        try await withClient({ $0.maxConnections = 1 }) { client in
            let within = try await client.withTransaction { transaction in
                try await transaction.commitAsynchronously()
                return try await transaction.query("SHOW synchronous_commit")[0].decode(0, as: String.self)
            }
            #expect(within == "off")
            #expect(try await client.query("SHOW synchronous_commit")[0].decode(0, as: String.self) == "on")
        }
    }

    @Test func `statements of child tasks run one after the other`() async throws {
        try await withTable { client in
            try await client.withTransaction { transaction in
                try await race(50) { number in try await transaction.execute("INSERT INTO t VALUES (\(number))") }
            }
            try await expectCount(50, client)
        }
    }

    @Test func `a script runs several statements in the transaction`() async throws {
        try await withTable { client in
            let rows = try await client.withTransaction { transaction in
                try await transaction.script("INSERT INTO t VALUES (1); INSERT INTO t VALUES (2); SELECT count(*) FROM t")
            }
            #expect(rows.count == 1)
            let error = await #expect(throws: PostgresError.self) {
                try await client.withTransaction { try await $0.script("INSERT INTO t VALUES (3); INSERT INTO t VALUES (1)") }
            }
            #expect(error?.isUniqueViolation == true)
            try await expectCount(2, client)
        }
    }

    @Test func `a BEGIN sent as a single query does not reach the next query`() async throws {
        try await withClient({ $0.maxConnections = 1 }) { client in
            try await client.execute("BEGIN")
            try await client.execute("CREATE TABLE t (a int)")
            #expect(await postgresError { try await client.execute("SAVEPOINT s") }?.sqlState == "25P01")
        }
    }

    @Test func `a transaction without statements loses its locks after the idle timeout, and cannot continue`() async throws {
        try await withClient({ $0.idleTransactionTimeout = .seconds(2) }) { client in
            try await client.execute("CREATE TABLE t (a int PRIMARY KEY)")
            await #expect(throws: PostgresError.self) {
                try await client.withTransaction { frozen in
                    try await frozen.execute("INSERT INTO t VALUES (1)")
                    // Waits for the row above, until the server ends its transaction.
                    try await client.execute("INSERT INTO t VALUES (1)")
                    try await frozen.execute("INSERT INTO t VALUES (2)")
                }
            }
            try await expectCount(1, client)
        }
    }

    // MARK: Enqueued statements

    @Test func `an enqueued statement is sent with the next one, and before it`() async throws {
        try await withTable { client in
            try await client.withTransaction { transaction in
                try await transaction.enqueue("SELECT pg_advisory_xact_lock(\(7))")
                try await transaction.enqueue("INSERT INTO t VALUES (\(1))")
                let isFree: Bool = try await client.query("SELECT pg_try_advisory_xact_lock(7)")[0].decode(0)
                #expect(isFree, "the statement was not sent yet")
                #expect(try await transaction.query("SELECT count(*) FROM t")[0].decode(0, as: Int.self) == 1)
                #expect(try await !client.query("SELECT pg_try_advisory_xact_lock(7)")[0].decode(0, as: Bool.self))
            }
        }
    }

    @Test func `an enqueued statement is sent with the commit when no other follows`() async throws {
        try await withTable { client in
            try await client.withTransaction { transaction in
                try await transaction.enqueue("INSERT INTO t VALUES (\(1))")
                try await transaction.enqueue("INSERT INTO t VALUES (\(2))")
            }
            try await expectCount(2, client)
        }
    }

    @Test func `an enqueued statement is not sent when the body throws`() async throws {
        try await withTable { client in
            try await client.execute("CREATE SEQUENCE s")
            await #expect(throws: Refused.self) {
                try await client.withTransaction { transaction in
                    _ = try await transaction.query("SELECT 1")
                    try await transaction.enqueue("SELECT nextval('s')")
                    throw Refused()
                }
            }
            // A rollback does not reset a sequence.
            #expect(try await client.query("SELECT nextval('s')")[0].decode(0, as: Int.self) == 1)
        }
    }

    @Test func `the next statement throws the error of an enqueued one`() async throws {
        try await withTable { client in
            let error = await #expect(throws: PostgresError.self) {
                try await client.withTransaction { transaction in
                    try await transaction.execute("INSERT INTO t VALUES (1)")
                    try await transaction.enqueue("INSERT INTO t VALUES (\(1))")
                    try await transaction.enqueue("INSERT INTO t VALUES (\(2))")
                    _ = try await transaction.query("SELECT count(*) FROM t")
                    Issue.record("the statement after the error was answered")
                }
            }
            #expect(error?.isUniqueViolation == true)
            try await expectCount(0, client)
        }
    }

    @Test func `the commit throws the error of an enqueued statement, and the connection stays usable`() async throws {
        try await withClient({ $0.maxConnections = 1 }) { client in
            try await client.execute("CREATE TABLE t (a int PRIMARY KEY)")
            let before: Int32 = try await client.query("SELECT pg_backend_pid()")[0].decode(0)
            let error = await #expect(throws: PostgresError.self) {
                try await client.withTransaction { transaction in
                    try await transaction.execute("INSERT INTO t VALUES (1)")
                    try await transaction.enqueue("INSERT INTO t VALUES (\(1))")
                }
            }
            #expect(error?.isUniqueViolation == true)
            try await expectCount(0, client)
            #expect(try await before == client.query("SELECT pg_backend_pid()")[0].decode(0, as: Int32.self))
        }
    }

    @Test func `a transaction is not committed when its enqueued statements were lost with a cancelled one`() async throws {
        try await withTable { client in
            let error = await #expect(throws: PostgresError.self) {
                try await client.withTransaction { transaction in
                    try await transaction.execute("INSERT INTO t VALUES (1)")
                    try await transaction.enqueue("INSERT INTO t VALUES (2)")
                    let child = Task { _ = try await transaction.query("SELECT pg_sleep(60)") }
                    child.cancel()
                    _ = await child.result
                }
            }
            #expect(error?.sqlState == "25P02")
            try await expectCount(0, client)
        }
    }

    @Test func `a script runs after the enqueued statements`() async throws {
        try await withTable { client in
            try await client.withTransaction { transaction in
                try await transaction.enqueue("INSERT INTO t VALUES (\(1))")
                try await transaction.script("UPDATE t SET a = a + 1; UPDATE t SET a = a * 10")
                #expect(try await transaction.query("SELECT a::bigint FROM t")[0].decode(0, as: Int.self) == 20)
            }
        }
    }

    @Test func `a statement that cannot be sent is refused when it is enqueued`() async throws {
        try await withTable { client in
            let error = await #expect(throws: PostgresError.self) {
                try await client.withTransaction { transaction in try await transaction.enqueue("SELECT '\u{0}'") }
            }
            #expect(error?.code == .invalidQuery)
        }
    }
}
