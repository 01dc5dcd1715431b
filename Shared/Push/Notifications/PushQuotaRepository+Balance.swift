public import PostgresClient

/// The tokens left in a project's bucket.
public struct PushQuotaBalance: Sendable, Equatable {
    /// The pushes that all lanes together may send at once.
    public let tokens: Double
    /// The tokens left in the bulk lane's own bucket after the last take.
    public let bulkTokens: Double
}

extension PushQuotaRepository {
    /// Returns the tokens left in a project's bucket, for metrics; `nil` before the first push.
    public func balance(project: String, limits: PushQuotaLimits) async throws(PostgresError) -> PushQuotaBalance? {
        // `refilled_at` of a new bucket is `-infinity`, which cannot be subtracted; one second fills the bucket.
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
