public import FoundationEssentials
public import PostgresClient
internal import WireFormat

/// How a user's recent sign-ins ended that count against one budget.
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
    /// Failed sign-ins after which a budget of an account is used up, for accounts that exist and for those that do not.
    ///
    /// Each installation that is known to the account (``AccessTokenRepository/isKnown(installationKey:to:)``) has a budget, and all
    /// others share one: a stranger can invent as many installations as they like, and must not lock the owner's phone out.
    public static let maxFailedSignIns = 5
    /// How long a failed sign-in counts: a quarter of an hour.
    public static let failedSignInWindow: Duration = .seconds(15 * 60)

    /// Returns a user's sign-ins that count against the next one of an installation, and lets no other start until the
    /// transaction ends.
    ///
    /// Belongs in the transaction that inserts the next one: two that count at the same time would both find room.
    public func lockSignInAttempts(userID: UUID, installationKey: [UInt8]) async throws(PostgresError) -> SignInAttempts {
        try await db.execute(
            "SELECT pg_advisory_xact_lock(hashtextextended('sign_in:' || (\(userID)::uuid)::text, 0))")
        let rows = try await db.query(
            """
            SELECT f.completed_at
            FROM sessions f, (SELECT \(userID)::uuid AS user_id, \(installationKey)::bytea AS installation_key) s
            WHERE f.user_id = \(userID) AND f.event = 'sign_in'
              AND (f.state IN ('received', 'processing') AND f.deadline_at > now() OR \(unescaped: Self.isCountedFailure))
              AND \(unescaped: Self.isOfSameBudget)
            """)
        let times = try rows.map { row throws(PostgresError) in try row.decode("completed_at", as: Date?.self) }
        let failedAt = times.compactMap { $0 }
        return SignInAttempts(failedAt: failedAt, undecided: times.count - failedAt.count)
    }

    /// Waits until nobody else counts the sign-ins of the session's user; does nothing for a sign-up.
    func lockSignIns(ofSession id: UUID) async throws(PostgresError) {
        try await db.execute(
            """
            SELECT pg_advisory_xact_lock(hashtextextended('sign_in:' || user_id::text, 0))
            FROM sessions WHERE id = \(id) AND event = 'sign_in'
            """)
    }

    /// Whether the session `f` counts against the budget of the installation of `s`, which is the same user's.
    static let isOfSameBudget = """
        CASE WHEN \(AccessTokenRepository.isKnown(installation: "s.installation_key", to: "s.user_id"))
        THEN f.installation_key = s.installation_key
        ELSE NOT \(AccessTokenRepository.isKnown(installation: "f.installation_key", to: "f.user_id")) END
        """

    /// Whether the session `f` is a failed sign-in that still counts.
    ///
    /// Failures that are ours do not. A success forgives those of its own device only: if it forgave all, whoever fails on
    /// another device could see from the lock when the owner signs in, and would get new tries from it.
    static let isCountedFailure = """
        f.event = 'sign_in' AND f.state = 'failed' AND f.reason NOT IN ('internal', 'timeout')
        AND f.completed_at > now() - interval '\(failedSignInWindow.components.seconds) seconds'
        AND NOT EXISTS (
            SELECT FROM sessions o
            WHERE o.user_id = f.user_id AND o.event = 'sign_in' AND o.state = 'succeeded'
              AND o.installation_key = f.installation_key AND o.completed_at > f.completed_at)
        """
}

extension SessionReason {
    /// Whether a sign-in that fails for this reason counts against the account: not when the failure is ours.
    var countsAsAttempt: Bool {
        switch self {
        case .internal, .timeout: false
        default: true
        }
    }
}
