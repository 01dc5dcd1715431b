extension PostgresTransaction {
    /// Makes the planner use index lookups for the rest of the transaction, in the order in which a statement joins its tables, with plans
    /// for the current table sizes.
    ///
    /// It is for batches of some hundred keys on tables that are empty at one moment and hold a hundred thousand rows at the next. The
    /// server caches the plan of a prepared statement. A plan made while a queue was empty, when a full index scan costs as little as one
    /// lookup, later compares each of 500 keys with each of 70,000 rows (180 ms instead of 5 ms). Planning each statement costs some tenths
    /// of a millisecond, and uses the table's size on disk. The scan and join types that are disabled are never right for a batch of keys;
    /// `random_page_cost` is lowered because the indexes are in memory (https://www.postgresql.org/docs/current/runtime-config-query.html).
    /// The planner does not know how many elements an array will have, and would look up a page's data once for each of its 500 deliveries
    /// (https://www.postgresql.org/docs/current/explicit-joins.html).
    ///
    /// - Parameter replan: `true` plans each statement again. `false` is for statements with only one possible plan once those scans and
    ///   joins are disabled, such as a subquery for each key, and for statements on a handful of rows: their cached plan is good enough.
    public func forceIndexPlans(replan: Bool = true) async throws(PostgresError) {
        try await enqueue(
            """
            SELECT set_config('plan_cache_mode', \(replan ? "force_custom_plan" : "auto"), true),
                   set_config('random_page_cost', '1.1', true),
                   set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true),
                   set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true),
                   set_config('join_collapse_limit', '1', true)
            """)
    }
}
