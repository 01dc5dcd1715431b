public import PostgresClient

extension PostgresTransaction {
    /// Has the rest of the transaction find rows by key only, never by reading a table or a whole index.
    ///
    /// For batches of some hundred keys on tables that are empty at one moment and hold a hundred thousand rows at the next. The
    /// server plans by statistics that are a minute old at best, and keeps the plan of a prepared statement: made while a queue
    /// was empty it reads the whole table, which took a hundred times as long (120 ms, not 1 ms, for 500 of 70,000 deliveries).
    /// These settings are the hint that PostgreSQL has: what they turn off is never right for a batch of keys
    /// (https://www.postgresql.org/docs/current/runtime-config-query.html).
    public func findByKey() async throws(PostgresError) {
        try await execute(
            """
            SELECT set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true),
                   set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true)
            """)
    }
}
