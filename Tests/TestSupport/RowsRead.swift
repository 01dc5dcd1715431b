public import PostgresClient

extension PostgresTransaction {
    /// Returns the number of rows of a table that the transaction has read so far, by scans and by indexes.
    public func rowsRead(in table: String) async throws -> Int64 {
        let query: PostgresQuery = """
            SELECT seq_tup_read + idx_tup_fetch AS rows FROM pg_stat_xact_user_tables WHERE relname = \(table)
            """
        guard let row = try await self.query(query).first else { throw DeadlineExceeded(description: "there is no table \(table)") }
        return try row.decode("rows")
    }
}
