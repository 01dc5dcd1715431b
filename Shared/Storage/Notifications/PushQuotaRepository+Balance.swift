public import PostgresClient

/// What is left in a project's bucket.
public struct PushQuotaBalance: Sendable, Equatable {
    /// The pushes that all lanes together may send at once.
    public let tokens: Double
    /// What the bulk lane left of its own share when it last took some.
    public let bulkTokens: Double
}

extension PushQuotaRepository {
    /// Returns what is left in a project's bucket, for those who watch; `nil` before anything was sent.
    public func balance(project: String, limits: PushQuotaLimits) async throws(PostgresError) -> PushQuotaBalance? {
        // Of a time that was never, nothing can be subtracted; a second fills the bucket.
        let query: PostgresQuery = """
            SELECT least(\(limits.perSecond)::float8, tokens + \(limits.perSecond)::float8
                       * extract(epoch FROM now() - greatest(refilled_at, now() - interval '1 s'))::float8) AS tokens,
                   bulk_tokens
            FROM push_quota WHERE project = \(project)
            """
        guard let row = try await db.query(query.readOnly()).first else { return nil }
        return PushQuotaBalance(
            tokens: max(0, try row.decode("tokens")), bulkTokens: max(0, try row.decode("bulk_tokens")))
    }
}
