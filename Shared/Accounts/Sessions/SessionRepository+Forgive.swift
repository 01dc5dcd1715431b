public import FoundationEssentials
public import PostgresClient

/// A failed sign-in that counts against the next one.
public struct FailedSignIn: Sendable, Equatable {
    /// The session.
    public let sessionID: UUID
    /// When it failed.
    public let failedAt: Date
    /// Why, as in ``SessionReason``.
    public let reason: String
    /// Whether its device is known to the account, and so counts for itself only.
    public let isKnown: Bool
    /// Its installation, as in ``NewSession/installationKey``; nil for a phone without one.
    public let installationKey: [UInt8]?
    /// The request that uploaded it.
    public let requestID: String?
}

extension SessionRepository {
    /// Returns the failed sign-ins of a user that count, the latest first.
    public func countedFailures(of userID: UUID) async throws(PostgresError) -> [FailedSignIn] {
        let rows = try await db.query(
            """
            SELECT * FROM (
                SELECT f.id, f.completed_at, f.reason, f.request_id, f.installation_key,
                    \(unescaped: AccessTokenRepository.knownDevice("f")) IS NOT NULL AS known
                FROM sessions f WHERE f.user_id = \(userID) AND \(unescaped: Self.isCountedFailure)) f
            WHERE NOT known OR completed_at > now() - make_interval(secs => \(Self.failedSignInWindow / .seconds(1)))
            ORDER BY completed_at DESC, id
            """)
        return try rows.map { row throws(PostgresError) in
            FailedSignIn(
                sessionID: try row.decode("id"), failedAt: try row.decode("completed_at"), reason: try row.decode("reason"),
                isKnown: try row.decode("known"), installationKey: try row.decode("installation_key"),
                requestID: try row.decode("request_id"))
        }
    }

    /// Removes the failed sign-ins of a user from all counts.
    ///
    /// - Returns: The number of sign-ins that counted before.
    public func forgiveFailures(of userID: UUID) async throws(PostgresError) -> Int {
        try await db.execute(
            "UPDATE sessions f SET forgiven_at = now() WHERE f.user_id = \(userID) AND \(unescaped: Self.isCountedFailure)")
    }
}
