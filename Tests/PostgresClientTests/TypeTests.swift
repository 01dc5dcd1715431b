import FoundationEssentials
import PostgresClient
import TestSupport
import Testing

@Suite("Types")
struct TypeTests {
    enum Colour: String, PostgresEncodable, PostgresDecodable { case red, green }

    /// Sends a value, and reads it from the server's result.
    private func roundTrip<Value: PostgresCodable>(_ value: Value, _ client: PostgresClient) async throws -> Value {
        try await client.query(PostgresQuery("SELECT \(value)").readOnly())[0].decode(0)
    }

    private func expectRoundTrip<Value: PostgresCodable & Equatable>(_ value: Value, _ client: PostgresClient) async throws {
        #expect(try await roundTrip(value, client) == value)
    }

    @Test func `random scalars are returned unchanged`() async throws {
        try await withClient { client in
            var random = SeededGenerator(seed: 1)
            for _ in 0..<200 {
                let number = Int64(truncatingIfNeeded: random.next())
                try await expectRoundTrip(number, client)
                try await expectRoundTrip(Int32(truncatingIfNeeded: number), client)
                try await expectRoundTrip(Int16(truncatingIfNeeded: number), client)
                let double = Double(bitPattern: random.next())
                #expect(try await roundTrip(double, client).bitPattern == double.bitPattern || double.isNaN)
                let bytes = (0..<Int.random(in: 0...300, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
                try await expectRoundTrip(bytes, client)
                let text = String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0 | 1) }))
                try await expectRoundTrip(text, client)
                let date = Date(timeIntervalSinceReferenceDate: Double(number % 4_000_000_000_000) / 1000)
                #expect(try await abs(roundTrip(date, client).timeIntervalSince(date)) < 0.000_01)
            }
        }
    }

    @Test func `random arrays are returned unchanged`() async throws {
        try await withClient { client in
            var random = SeededGenerator(seed: 2)
            for length in [0, 1, 2, 17, 100, 1000] {
                let numbers = (0..<length).map { _ in Int(truncatingIfNeeded: random.next()) }
                try await expectRoundTrip(numbers, client)
                let ids = numbers.map { _ in UUID() }
                try await expectRoundTrip(ids, client)
                let texts = numbers.map { "{\"\($0)\\,ü" }
                try await expectRoundTrip(texts, client)
                let blobs = numbers.map { [UInt8](String($0).utf8.prefix(abs($0 % 20))) }
                try await expectRoundTrip(blobs, client)
                let maybe = texts.map { $0.utf8.count.isMultiple(of: 2) ? nil : $0 }
                try await expectRoundTrip(maybe, client)
                let flags = numbers.map { $0 > 0 }
                try await expectRoundTrip(flags, client)
                let dates = (0..<length).map { Date(timeIntervalSinceReferenceDate: Double($0) * 1000.5) }
                try await expectRoundTrip(dates, client)
            }
        }
    }

    @Test func `extreme values and NULL are returned unchanged`() async throws {
        try await withClient { client in
            for number in [Int64.min, -1, 0, 1, .max] { try await expectRoundTrip(number, client) }
            try await expectRoundTrip(Double.infinity, client)
            try await expectRoundTrip("", client)
            try await expectRoundTrip([UInt8](), client)
            try await expectRoundTrip(nil as String?, client)
            try await expectRoundTrip(Optional([1, 2]), client)
            try await expectRoundTrip(Colour.green, client)
            try await expectRoundTrip(Float(1.5), client)
            try await expectRoundTrip(true, client)
        }
    }

    @Test func `types that only the server sends are read`() async throws {
        try await withClient { client in
            let row = try await client.query(
                """
                SELECT 'a'::varchar AS v, 'b'::char(3) AS c, 'n'::name AS n, '{"k": 1}'::jsonb AS j, 1::int4 AS i, 2::int2 AS s,
                    1.5::float4 AS f, '2000-01-01 00:00:01'::timestamp AS t, 'infinity'::timestamptz AS later
                """)[0]
            #expect(try row.decode("v", as: String.self) == "a")
            #expect(try row.decode("c", as: String.self) == "b  ")
            #expect(try row.decode("n", as: String.self) == "n")
            #expect(try row.decode("j", as: String.self) == #"{"k": 1}"#)
            #expect(try row.decode("i", as: Int.self) == 1)
            #expect(try row.decode("s", as: Int.self) == 2)
            #expect(try row.decode("f", as: Double.self) == 1.5)
            #expect(try row.decode("t", as: Date.self) == Date(timeIntervalSince1970: 946_684_801))
            #expect(try row.decode("later", as: Date.self) == .distantFuture)
        }
    }

    @Test func `enumerations of the server are read as text`() async throws {
        try await withClient { client in
            try await client.execute("CREATE TYPE colour AS ENUM ('red', 'green')")
            let rows = try await client.query("SELECT (\(Colour.red)::text)::colour AS colour")
            #expect(try rows[0].decode("colour", as: Colour.self) == .red)
        }
    }

    @Test func `a column that cannot be decoded is a decoding error with its name`() async throws {
        try await withClient { client in
            let row = try await client.query("SELECT 1 AS number, NULL::text AS nothing, 'blue' AS colour, ARRAY[[1],[2]] AS deep")[0]
            func expectDecodingError(_ body: () throws -> Void, naming column: String) {
                let error = #expect(throws: PostgresError.self) { try body() }
                #expect(error?.code == .decoding)
                #expect(error?.message.contains(column) == true)
            }
            expectDecodingError({ _ = try row.decode("number", as: String.self) }, naming: "number")
            expectDecodingError({ _ = try row.decode("nothing", as: String.self) }, naming: "nothing")
            expectDecodingError({ _ = try row.decode("missing", as: String.self) }, naming: "missing")
            expectDecodingError({ _ = try row.decode("NUMBER", as: Int.self) }, naming: "NUMBER")
            expectDecodingError({ _ = try row.decode("colour", as: Colour.self) }, naming: "colour")
            expectDecodingError({ _ = try row.decode("deep", as: [Int].self) }, naming: "deep")
            expectDecodingError({ _ = try row.decode(4, as: Int.self) }, naming: "4")
        }
    }

    @Test func `a value never becomes part of the statement`() async throws {
        try await withClient { client in
            let hostile = "'; DROP TABLE users; --"
            try await expectRoundTrip(hostile, client)
            let name = "strange \"name\""
            try await client.execute("CREATE TABLE \(identifier: name) (a int)")
            #expect(try await client.query("SELECT * FROM \(identifier: name)").isEmpty)
            let query: PostgresQuery = "SELECT \(1) + \(unescaped: "2")"
            #expect(query.sql == "SELECT $1 + 2")
        }
    }
}
