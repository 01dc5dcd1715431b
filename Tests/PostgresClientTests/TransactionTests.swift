import PostgresClient
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

    private func count(_ client: PostgresClient) async throws -> Int {
        try await client.query("SELECT count(*) FROM t")[0].decode(0)
    }

    @Test func `a transaction commits the work of its body`() async throws {
        try await withTable { client in
            let answer = try await client.withTransaction { transaction in
                try await transaction.execute("INSERT INTO t VALUES (\(1))")
                try await transaction.execute("INSERT INTO t VALUES (\(2))")
                let rows = try await count(client)
                #expect(rows == 0)
                return "done"
            }
            #expect(answer == "done")
            let left = try await count(client)
            #expect(left == 2)
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
            let rows = try await count(client)
            #expect(rows == 0)
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
            let rows = try await count(client)
            #expect(rows == 0)
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
            let rows = try await count(client)
            #expect(rows == 0)
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
            let error = await #expect(throws: PostgresError.self) { try await task.value }
            #expect(error?.code == .cancelled)
            let rows = try await count(client)
            #expect(rows == 0)
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
            let error = await #expect(throws: PostgresError.self) { try await task.value }
            #expect(error?.code == .cancelled)
            let rows = try await count(client)
            #expect(rows == 0)
        }
    }

    @Test func `queries of a transaction are refused after its body has returned`() async throws {
        try await withTable { client in
            let escaped = try await client.withTransaction { transaction in
                try await transaction.execute("INSERT INTO t VALUES (1)")
                return transaction
            }
            let error = await #expect(throws: PostgresError.self) { try await escaped.query("SELECT 1") }
            #expect(error?.code == .closed)
        }
    }

    @Test func `an empty transaction returns the result or the error of its body`() async throws {
        try await withTable { client in
            #expect(try await client.withTransaction { _ in 7 } == 7)
            await #expect(throws: Refused.self) { try await client.withTransaction { _ in throw Refused() } }
            let rows = try await count(client)
            #expect(rows == 0)
        }
    }

    @Test func `an asynchronous commit applies only to the transaction that requests it`() async throws {
        try await withClient({ $0.maxConnections = 1 }) { client in
            let within = try await client.withTransaction { transaction in
                try await transaction.commitAsynchronously()
                return try await transaction.query("SHOW synchronous_commit")[0].decode(0, as: String.self)
            }
            #expect(within == "off")
            let after = try await client.query("SHOW synchronous_commit")[0].decode(0, as: String.self)
            #expect(after == "on")
        }
    }

    @Test func `the transaction has the requested isolation level`() async throws {
        try await withTable { client in
            let level = try await client.withTransaction(isolation: .serializable) { transaction in
                try await transaction.query("SHOW transaction_isolation")[0].decode(0, as: String.self)
            }
            #expect(level == "serializable")
            let plain = try await client.query("SHOW transaction_isolation")[0].decode(0, as: String.self)
            #expect(plain == "read committed")
        }
    }

    @Test func `statements of child tasks run one after the other`() async throws {
        try await withTable { client in
            try await client.withTransaction { transaction in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for number in 0..<50 {
                        group.addTask { try await transaction.execute("INSERT INTO t VALUES (\(number))") }
                    }
                    try await group.waitForAll()
                }
            }
            let rows = try await count(client)
            #expect(rows == 50)
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
            let left = try await count(client)
            #expect(left == 2)
        }
    }

    @Test func `a BEGIN sent as a single query does not reach the next query`() async throws {
        try await withClient({ $0.maxConnections = 1 }) { client in
            try await client.execute("BEGIN")
            try await client.execute("CREATE TABLE t (a int)")
            let error = await #expect(throws: PostgresError.self) { try await client.execute("SAVEPOINT s") }
            #expect(error?.sqlState == "25P01")
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
            let rows = try await count(client)
            #expect(rows == 1)
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
                let rows: Int = try await transaction.query("SELECT count(*) FROM t")[0].decode(0)
                #expect(rows == 1)
                let isStillFree: Bool = try await client.query("SELECT pg_try_advisory_xact_lock(7)")[0].decode(0)
                #expect(!isStillFree)
            }
        }
    }

    @Test func `an enqueued statement is sent with the commit when no other follows`() async throws {
        try await withTable { client in
            try await client.withTransaction { transaction in
                try await transaction.enqueue("INSERT INTO t VALUES (\(1))")
                try await transaction.enqueue("INSERT INTO t VALUES (\(2))")
            }
            let rows = try await count(client)
            #expect(rows == 2)
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
            let next: Int = try await client.query("SELECT nextval('s')")[0].decode(0)
            #expect(next == 1)
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
            let rows = try await count(client)
            #expect(rows == 0)
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
            let rows = try await count(client)
            #expect(rows == 0)
            let after: Int32 = try await client.query("SELECT pg_backend_pid()")[0].decode(0)
            #expect(before == after)
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
            let rows = try await count(client)
            #expect(rows == 0)
        }
    }

    @Test func `a script runs after the enqueued statements`() async throws {
        try await withTable { client in
            try await client.withTransaction { transaction in
                try await transaction.enqueue("INSERT INTO t VALUES (\(1))")
                try await transaction.script("UPDATE t SET a = a + 1; UPDATE t SET a = a * 10")
                let value: Int = try await transaction.query("SELECT a::bigint FROM t")[0].decode(0)
                #expect(value == 20)
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
