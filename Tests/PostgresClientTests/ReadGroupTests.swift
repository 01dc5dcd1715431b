import PostgresClient
import Testing

@Suite("Grouped reads")
struct ReadGroupTests {
    /// Starts all queries at once on one connection, so that they share segments, and collects their results.
    private func outcomes(_ queries: [PostgresQuery], on client: PostgresClient) async -> [Result<Int, PostgresError>] {
        // Both the adding task and the queries run on the thread of the loop, so that all are submitted before the loop sends.
        let task = Task(executorPreference: client.executor) {
            await withTaskGroup(of: (Int, Result<Int, PostgresError>).self) { group in
                for (index, query) in queries.enumerated() {
                    group.addTask(executorPreference: client.executor) {
                        do throws(PostgresError) {
                            return (index, .success(try await client.query(query)[0].decode(0)))
                        } catch {
                            return (index, .failure(error))
                        }
                    }
                }
                var outcomes = [Result<Int, PostgresError>](repeating: .success(-1), count: queries.count)
                for await (index, outcome) in group { outcomes[index] = outcome }
                return outcomes
            }
        }
        return await task.value
    }

    @Test func `a failing read does not fail the others of its group`() async throws {
        try await withClient({ $0.maxConnections = 1 }) { client in
            let queries = (0..<100).map { number -> PostgresQuery in
                ("SELECT 100 / \(number % 10)" as PostgresQuery).readOnly()
            }
            let outcomes = await outcomes(queries, on: client)
            for (number, outcome) in outcomes.enumerated() {
                switch outcome {
                case .success(let value): #expect(value == 100 / (number % 10))
                case .failure(let error):
                    #expect(number.isMultiple(of: 10))
                    #expect(error.sqlState == "22012")
                }
            }
        }
    }

    @Test func `a statement that does not parse fails alone, each time`() async throws {
        try await withClient({ $0.maxConnections = 1 }) { client in
            for _ in 0..<3 {
                let queries = (0..<30).map { number -> PostgresQuery in
                    number == 7
                        ? PostgresQuery(unescaped: "SELEKT 1").readOnly() : ("SELECT \(number)" as PostgresQuery).readOnly()
                }
                for (number, outcome) in await outcomes(queries, on: client).enumerated() {
                    switch outcome {
                    case .success(let value): #expect(value == number && number != 7)
                    case .failure(let error): #expect(number == 7 && error.sqlState == "42601")
                    }
                }
            }
        }
    }

    @Test func `different statements prepared in one failing group still work`() async throws {
        try await withClient({ $0.maxConnections = 1 }) { client in
            let queries = (0..<40).map { number -> PostgresQuery in
                ("SELECT 10 / \(number - 3) + 0 * \(unescaped: "\(number)")" as PostgresQuery).readOnly()
            }
            for _ in 0..<2 {
                for (number, outcome) in await outcomes(queries, on: client).enumerated() {
                    switch outcome {
                    case .success(let value): #expect(value == 10 / (number - 3))
                    case .failure(let error): #expect(number == 3 && error.sqlState == "22012")
                    }
                }
            }
        }
    }

    @Test func `reads share round trips`() async throws {
        try await withClient({ $0.maxConnections = 1 }) { client in
            let queries = [PostgresQuery](
                repeating: PostgresQuery("SELECT (extract(epoch FROM transaction_timestamp()) * 1000000)::bigint").readOnly(), count: 50)
            _ = try await client.query("SELECT 1")
            let transactions = Set(await outcomes(queries, on: client).compactMap { try? $0.get() })
            #expect(transactions.count < 50, "50 reads took \(transactions.count) transactions")
        }
    }

    @Test func `writes never share a transaction`() async throws {
        try await withClient({ $0.maxConnections = 2 }) { client in
            try await client.execute("CREATE TABLE t (a int PRIMARY KEY)")
            let queries = (0..<200).map { number -> PostgresQuery in "INSERT INTO t VALUES (\(number / 2)) RETURNING a" }
            let outcomes = await outcomes(queries, on: client)
            #expect(outcomes.filter { (try? $0.get()) != nil }.count == 100)
            #expect(try await client.query("SELECT count(*) FROM t")[0].decode(0, as: Int.self) == 100)
        }
    }
}
