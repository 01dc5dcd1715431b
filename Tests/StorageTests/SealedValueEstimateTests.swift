import HeliographCrypto
import PostgresClient
import TestSupport
import Testing

@testable import Accounts

struct SealedValueEstimateTests {
    private func sealed(_ id: String) throws -> [UInt8] {
        try Sealer(keyRing: try KeyRing(parsing: KeyRing.generateText(id: id))).seal(Array("a@example.org".utf8), context: [])
    }

    /// Fills `users` with rows, of which every fourth one has a value of the key k2.
    private func fill(_ rows: Int) async throws {
        try await client.execute(
            """
            INSERT INTO users (id, email_sealed)
            SELECT gen_random_uuid(),
                   CASE WHEN n % 4 = 0 THEN \(try sealed("k2"))::bytea ELSE \(try sealed("k1"))::bytea END
            FROM generate_series(1, \(rows)::integer) n
            """)
    }

    private func estimates(maxPages: Int) async throws -> [String: Int] {
        let all = try await client.withTransaction { transaction in
            let repository = SealedValueEstimateRepository(transaction, maxPages: maxPages)
            try await repository.refresh(olderThan: .zero)
            return try await repository.all()
        }
        return Dictionary(uniqueKeysWithValues: all.map { ("\($0.purpose.rawValue) \($0.keyID)", $0.count) })
    }

    @Test(.storage) func `a small table is counted, a large one is estimated from some of its pages`() async throws {
        try await fill(40_000)
        let counted = try await estimates(maxPages: 100_000)
        #expect(counted == ["accounts k1": 30_000, "accounts k2": 10_000])
        // A tenth of its pages or so: each page has dozens of rows, so that the error is a few hundredths, and this allows for half.
        let estimated = try await estimates(maxPages: 100)
        #expect((15_000...45_000).contains(try #require(estimated["accounts k1"])))
        #expect((5_000...15_000).contains(try #require(estimated["accounts k2"])))
        #expect(estimated != counted, "not all pages were read")
    }

    @Test(.storage) func `while one instance counts, another does not`() async throws {
        try await client.withTransaction { first in
            let isFirst = try await SealedValueEstimateRepository(first).refresh(olderThan: .zero)
            #expect(isFirst)
            try await client.withTransaction { second in
                let isSecond = try await SealedValueEstimateRepository(second).refresh(olderThan: .zero)
                #expect(!isSecond)
            }
        }
        try await fill(4)
        try await client.withTransaction { third in
            let repository = SealedValueEstimateRepository(third)
            let isThird = try await repository.refresh(olderThan: .seconds(3_600))
            #expect(isThird, "the first one has found nothing that a number could be kept of")
            let isFourth = try await repository.refresh(olderThan: .seconds(3_600))
            #expect(!isFourth, "the numbers are new")
        }
    }
}
