internal import FoundationEssentials
public import PostgresClient

/// The number of values that a key seals, or finds, as the tables have it by a sample.
public struct SealedValueEstimate: Sendable, Equatable {
    /// The ring of the key.
    public let purpose: KeyPurpose
    /// The id of the key; `""` for values that are not sealed.
    public let keyID: String
    /// The number of values.
    public let count: Int
}

/// Reads and writes `sealed_value_counts`: estimates of how many values each key has sealed or finds, made once for all instances.
///
/// A table of at most ``maxPages`` pages is counted; of a larger one as many pages are read, drawn at random, and the numbers are scaled.
/// So the cost does not grow with the tables, and no write pays for an index or a counter. A key with a tiny share of a large table may be
/// estimated as 0: whether a key can be removed is counted by `heliographctl keys status`. The columns are those with
/// ``SealedColumn/isSampled``, and the lookups of accounts.
public struct SealedValueEstimateRepository: Sendable {
    /// The most pages of a table that are read, of 8 KB each.
    public static let maxPages = 1000

    private let db: any PostgresQueryable
    private let maxPages: Int

    /// Works inside a transaction.
    public init(_ transaction: PostgresTransaction, maxPages: Int = Self.maxPages) {
        db = transaction
        self.maxPages = maxPages
    }

    /// Replaces the estimates, unless that was done within `age` or another transaction is doing it.
    ///
    /// - Returns: Whether they were replaced.
    @discardableResult
    public func refresh(olderThan age: Duration) async throws(PostgresError) -> Bool {
        let isDue: Bool = try await db.query(
            """
            SELECT CASE WHEN pg_try_advisory_xact_lock(hashtextextended('sealed_value_counts', 0))
                        THEN coalesce(max(counted_at) <= now() - make_interval(secs => \(age / .seconds(1))), true) ELSE false END AS is_due
            FROM sealed_value_counts
            """
        ).required().decode("is_due")
        guard isDue else { return false }
        var counts: [String: [String: Int]] = [:]
        for column in SealedColumn.all where column.isSampled {
            // Only the header is read of a long value.
            let values = "SELECT substr(\(column.column), 1, 35) AS value FROM \(column.table)"
            let found = try await sample(values, of: column.table, where: column.filter, keyID: SealedValueRepository.keyID(of: "value"))
            counts[column.purpose.rawValue, default: [:]].merge(found, uniquingKeysWith: +)
        }
        for (table, column) in [("email_lookups", "lookup"), ("identities", "subject_lookup")] {
            let values = "SELECT \(column) AS value FROM \(table)"
            let found = try await sample(values, of: table, keyID: LookupRepository.keyID(of: "value"))
            counts[KeyPurpose.lookups.rawValue, default: [:]].merge(found, uniquingKeysWith: +)
        }
        // A key whose values are all resealed keeps its row, with 0.
        try await db.execute("UPDATE sealed_value_counts SET estimate = 0, counted_at = now()")
        for (ring, keys) in counts {
            for (keyID, count) in keys {
                try await db.execute(
                    """
                    INSERT INTO sealed_value_counts (ring, key_id, estimate) VALUES (\(ring), \(keyID), \(Int64(count)))
                    ON CONFLICT (ring, key_id) DO UPDATE SET estimate = EXCLUDED.estimate
                    """)
            }
        }
        return true
    }

    /// Returns the estimates, by whichever instance made them.
    public func all() async throws(PostgresError) -> [SealedValueEstimate] {
        var estimates: [SealedValueEstimate] = []
        for row in try await db.query("SELECT ring, key_id, estimate FROM sealed_value_counts ORDER BY ring, key_id") {
            guard let purpose = KeyPurpose(rawValue: try row.decode("ring")) else { continue }
            let count = Int(try row.decode("estimate", as: Int64.self))
            estimates.append(SealedValueEstimate(purpose: purpose, keyID: try row.decode("key_id"), count: count))
        }
        return estimates
    }

    /// Counts the values of a table by their keys, by a sample.
    ///
    /// - Parameters:
    ///   - values: SQL that selects `value`, to which the sample and the filter are appended.
    ///   - keyID: SQL for the id of the key of `value`.
    private func sample(
        _ values: String, of table: String, where filter: String = "true", keyID: String
    ) async throws(PostgresError) -> [String: Int] {
        let percent: Double = try await db.query(
            """
            SELECT least(100, 100.0 * \(maxPages)::integer
                   / greatest(1, pg_relation_size((\(table)::text)::regclass) / current_setting('block_size')::integer)
                   )::float8 AS percent
            """
        ).required().decode("percent")
        let query: PostgresQuery = """
            SELECT \(unescaped: keyID) AS key_id, count(*)::bigint AS count
            FROM (\(unescaped: values) TABLESAMPLE SYSTEM ((\(percent)::float8)::real) WHERE \(unescaped: filter)) heads
            GROUP BY 1
            """
        var counts: [String: Int] = [:]
        for row in try await db.query(query.timeout(SealedValueRepository.countTimeout)) {
            let count = Double(try row.decode("count", as: Int64.self))
            counts[try row.decode("key_id")] = Int((count * 100 / percent).rounded())
        }
        return counts
    }
}
