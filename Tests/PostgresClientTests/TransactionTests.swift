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

    @Test func `a transaction commits what its body did`() async throws {
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

    @Test func `a body that throws rolls everything back`() async throws {
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

    @Test func `a failed statement rolls back, and its error comes out`() async throws {
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

    @Test func `a swallowed error does not look like a commit`() async throws {
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

    @Test func `cancelling the task rolls back`() async throws {
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

    @Test func `a body that ignores its cancellation is rolled back all the same`() async throws {
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

    @Test func `a transaction that outlives its body is refused`() async throws {
        try await withTable { client in
            let escaped = try await client.withTransaction { transaction in
                try await transaction.execute("INSERT INTO t VALUES (1)")
                return transaction
            }
            let error = await #expect(throws: PostgresError.self) { try await escaped.query("SELECT 1") }
            #expect(error?.code == .closed)
        }
    }

    @Test func `an empty transaction is fine`() async throws {
        try await withTable { client in
            #expect(try await client.withTransaction { _ in 7 } == 7)
            await #expect(throws: Refused.self) { try await client.withTransaction { _ in throw Refused() } }
            let rows = try await count(client)
            #expect(rows == 0)
        }
    }

    @Test func `an asynchronous commit is asked for by one transaction, and for itself only`() async throws {
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

    @Test func `the isolation level is the one asked for`() async throws {
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

    @Test func `a BEGIN sent as a single query does not leak`() async throws {
        try await withClient({ $0.maxConnections = 1 }) { client in
            try await client.execute("BEGIN")
            try await client.execute("CREATE TABLE t (a int)")
            let error = await #expect(throws: PostgresError.self) { try await client.execute("SAVEPOINT s") }
            #expect(error?.sqlState == "25P01")
        }
    }

    @Test func `a transaction that stands still gives its locks back, and cannot go on`() async throws {
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

    // MARK: Statements that nobody waits for

    @Test func `a statement that nobody waits for goes out with the next one, and before it`() async throws {
        try await withTable { client in
            try await client.withTransaction { transaction in
                try await transaction.enqueue("SELECT pg_advisory_xact_lock(\(7))")
                try await transaction.enqueue("INSERT INTO t VALUES (\(1))")
                let isFree: Bool = try await client.query("SELECT pg_try_advisory_xact_lock(7)")[0].decode(0)
                #expect(isFree, "nothing was sent yet")
                let rows: Int = try await transaction.query("SELECT count(*) FROM t")[0].decode(0)
                #expect(rows == 1)
                let isStillFree: Bool = try await client.query("SELECT pg_try_advisory_xact_lock(7)")[0].decode(0)
                #expect(!isStillFree)
            }
        }
    }

    @Test func `a statement that nobody waits for goes out with the commit at last`() async throws {
        try await withTable { client in
            try await client.withTransaction { transaction in
                try await transaction.enqueue("INSERT INTO t VALUES (\(1))")
                try await transaction.enqueue("INSERT INTO t VALUES (\(2))")
            }
            let rows = try await count(client)
            #expect(rows == 2)
        }
    }

    @Test func `a statement that nobody waits for is not sent when the body throws`() async throws {
        try await withTable { client in
            try await client.execute("CREATE SEQUENCE s")
            await #expect(throws: Refused.self) {
                try await client.withTransaction { transaction in
                    _ = try await transaction.query("SELECT 1")
                    try await transaction.enqueue("SELECT nextval('s')")
                    throw Refused()
                }
            }
            // A sequence does not go back with its transaction.
            let next: Int = try await client.query("SELECT nextval('s')")[0].decode(0)
            #expect(next == 1)
        }
    }

    @Test func `the next statement has the error of one that nobody waited for`() async throws {
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

    @Test func `the commit has the error of one that nobody waited for, and the connection serves on`() async throws {
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

    @Test func `what was lost with a statement that failed unsent is not committed without`() async throws {
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

    @Test func `a script runs after what nobody waited for`() async throws {
        try await withTable { client in
            try await client.withTransaction { transaction in
                try await transaction.enqueue("INSERT INTO t VALUES (\(1))")
                try await transaction.script("UPDATE t SET a = a + 1; UPDATE t SET a = a * 10")
                let value: Int = try await transaction.query("SELECT a::bigint FROM t")[0].decode(0)
                #expect(value == 20)
            }
        }
    }

    @Test func `a statement that cannot be sent is refused when it is noted`() async throws {
        try await withTable { client in
            let error = await #expect(throws: PostgresError.self) {
                try await client.withTransaction { transaction in try await transaction.enqueue("SELECT '\u{0}'") }
            }
            #expect(error?.code == .invalidQuery)
        }
    }
}
