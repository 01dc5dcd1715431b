public import FoundationEssentials
public import PostgresClient
internal import WireFormat

/// What a user's recent sign-ins came to.
public struct SignInAttempts: Sendable, Equatable {
    /// When each refused one was decided.
    public let failedAt: [Date]
    /// How many are still undecided.
    public let undecided: Int

    /// Describes recent sign-ins.
    public init(failedAt: [Date], undecided: Int) {
        self.failedAt = failedAt
        self.undecided = undecided
    }
}

extension SessionRepository {
    /// Returns a user's sign-ins within a window and after the last success, and lets nobody else start one until the
    /// transaction ends.
    ///
    /// Belongs in the transaction that inserts the next one: two that count at the same time would both find room.
    /// Failures that are ours (`internal`, `timeout`) do not count against the user.
    public func lockSignInAttempts(userID: UUID, window: Duration) async throws(PostgresError) -> SignInAttempts {
        try await db.execute(
            "SELECT pg_advisory_xact_lock(hashtextextended('sign_in:' || (\(userID)::uuid)::text, 0))")
        let rows = try await db.query(
            """
            SELECT completed_at FROM sessions
            WHERE user_id = \(userID) AND event = 'sign_in'
              AND (state IN ('received', 'processing') AND deadline_at > now()
                   OR state = 'failed' AND reason NOT IN ('internal', 'timeout')
                      AND completed_at > greatest(now() - make_interval(secs => \(window.inSeconds)), (
                          SELECT max(completed_at) FROM sessions
                          WHERE user_id = \(userID) AND event = 'sign_in' AND state = 'succeeded')))
            """)
        let times = try rows.map { row throws(PostgresError) in try row.decode("completed_at", as: Date?.self) }
        let failedAt = times.compactMap { $0 }
        return SignInAttempts(failedAt: failedAt, undecided: times.count - failedAt.count)
    }
}
