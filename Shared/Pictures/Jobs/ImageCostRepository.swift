public import PostgresClient

/// Deletes from `image_costs`: the processor time that an account has ordered of late, which outlasts the jobs that it deletes.
/// ``ImageJobRepository/insert(_:)`` adds to it, ``ImageJobRepository/lockLoad(of:)`` reads it.
public struct ImageCostRepository: Sendable {
    /// The time for which the cost of a job counts for its account: 10 minutes, of which the first is not counted whole.
    public static let window: Duration = .seconds(10 * 60)
    /// SQL expression: the start of the window.
    static let start = "now() - interval '\(window.components.seconds) seconds'"

    private let db: any PostgresQueryable

    /// Works on a client or inside a transaction.
    public init(_ db: some PostgresQueryable) {
        self.db = db
    }

    /// Deletes at most `limit` costs that count no more.
    ///
    /// - Returns: The number of deleted costs.
    @discardableResult
    public func deleteOld(limit: Int) async throws(PostgresError) -> Int {
        try await db.execute(
            """
            DELETE FROM image_costs WHERE ctid IN (
                SELECT ctid FROM image_costs WHERE minute <= \(unescaped: Self.start) ORDER BY minute LIMIT \(limit))
            """)
    }
}
