import FoundationEssentials
import Logging
import PostgresClient
import TestSupport
import Testing

@Suite("Queries")
struct QueryTests {
    @Test func `a query binds its values and returns typed rows`() async throws {
        try await withClient { client in
            let id = UUID()
            let rows = try await client.query("SELECT \(id) AS id, \(42) AS number, \("héllo") AS text, \(nil as Int?) AS nothing")
            #expect(rows.count == 1)
            let row = try #require(rows.first)
            #expect(try row.decode("id", as: UUID.self) == id)
            #expect(try row.decode("number", as: Int.self) == 42)
            #expect(try row.decode("text", as: String.self) == "héllo")
            #expect(try row.decode("nothing", as: Int?.self) == nil)
        }
    }

    @Test func `columns are found by their whole names in any order`() async throws {
        try await withClient { client in
            let row = try #require(try await client.query("SELECT 1 AS a, 2 AS ab, 3 AS abc").first)
            let read = try ["ab", "a", "abc", "abc", "a", "ab", "abc"].map { try row.decode($0, as: Int.self) }
            #expect(read == [2, 1, 3, 3, 1, 2, 3])
            for name in ["", "b", "abcd"] {
                let error = #expect(throws: PostgresError.self) { try row.decode(name, as: Int.self) }
                #expect(error?.code == .decoding)
            }
        }
    }

    @Test func `statements report how many rows they changed`() async throws {
        try await withClient { client in
            try await client.execute("CREATE TABLE t (a int PRIMARY KEY, b text)")
            let inserted = try await client.execute("INSERT INTO t SELECT n, 'x' FROM generate_series(1, 10) n")
            let updated = try await client.execute("UPDATE t SET b = \("y") WHERE a > \(7)")
            #expect(inserted == 10)
            #expect(updated == 3)
        }
    }

    @Test func `the error of a refused statement has its SQLSTATE and constraint`() async throws {
        try await withClient { client in
            try await client.execute("CREATE TABLE t (a int CONSTRAINT only_once PRIMARY KEY)")
            try await client.execute("INSERT INTO t VALUES (1)")
            let error = await #expect(throws: PostgresError.self) { try await client.execute("INSERT INTO t VALUES (1)") }
            #expect(error?.isUniqueViolation == true)
            #expect(error?.constraint == "only_once")
        }
    }

    @Test func `an error at COMMIT is thrown by the statement`() async throws {
        try await withClient { client in
            try await client.execute("CREATE TABLE parent (id int PRIMARY KEY)")
            try await client.execute(
                "CREATE TABLE child (id int REFERENCES parent DEFERRABLE INITIALLY DEFERRED)")
            #expect(await postgresError { try await client.execute("INSERT INTO child VALUES (1)") }?.isForeignKeyViolation == true)
            #expect(try await client.query("SELECT 1 FROM child").isEmpty)
        }
    }

    @Test func `many callers share few connections`() async throws {
        try await withClient { client in
            let values = try await race(500) { number in
                let query: PostgresQuery = "SELECT \(number) + 1"
                let rows = try await client.query(number.isMultiple(of: 2) ? query : query.readOnly())
                return try rows[0].decode(0, as: Int.self)
            }
            #expect(values.sorted() == Array(1...500))
            let rows = try await client.query(
                """
                SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend'
                """)
            #expect(try rows[0].decode(0, as: Int.self) <= 4)
        }
    }
}
