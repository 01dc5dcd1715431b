public import PostgresClient

extension PostgresTransaction {
    /// Has the rest of the transaction find rows by key, and plan its statements by the tables as they are now.
    ///
    /// For batches of some hundred keys on tables that are empty at one moment and hold a hundred thousand rows at the next. The
    /// server keeps the plan of a prepared statement; made while a queue was empty, when reading all of an index costs as little
    /// as one look into it, it compares each of 500 keys with each of 70,000 rows later (180 ms, not 5 ms). Planning anew costs
    /// some tenths of a millisecond a statement, and goes by the size that a table has on disk. What is turned off beside is
    /// never right for a batch of keys, and what is priced anew is a look into an index that is in memory
    /// (https://www.postgresql.org/docs/current/runtime-config-query.html).
    ///
    /// - Parameter planningAnew: `false` for statements that have but one way of finding each row with tables and hashes turned
    ///   off, as with a subquery for each key, and for a handful of rows: the plan that is kept serves them.
    public func findByKey(planningAnew: Bool = true) async throws(PostgresError) {
        try await enqueue(
            """
            SELECT set_config('plan_cache_mode', \(planningAnew ? "force_custom_plan" : "auto"), true),
                   set_config('random_page_cost', '1.1', true),
                   set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true),
                   set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true)
            """)
    }
}
