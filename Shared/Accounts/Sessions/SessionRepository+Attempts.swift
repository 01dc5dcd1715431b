public import FoundationEssentials
public import PostgresClient
internal import WireFormat

/// The recent sign-ins of an e-mail that count against one budget.
public struct SignInAttempts: Sendable, Equatable {
    /// The times of the failed sign-ins.
    public let failedAt: [Date]
    /// The number of undecided sign-ins.
    public let undecided: Int
    /// Whether the budget belongs to a known device; otherwise all other installations share it.
    public let isKnown: Bool

    /// Describes recent sign-ins.
    public init(failedAt: [Date], undecided: Int, isKnown: Bool) {
        self.failedAt = failedAt
        self.undecided = undecided
        self.isKnown = isKnown
    }

    /// Returns the budget that they leave at a time.
    public func budget(at now: Date) -> SignInBudget { SignInBudget(failedAt: failedAt, isKnown: isKnown, at: now) }
}

extension SessionRepository {
    /// The failed sign-ins that use up a budget of an account, whether the account exists or not.
    ///
    /// Each known device of the account (``AccessTokenRepository/knownDevice(deviceKey:installationKey:to:)``) has its own budget, and all
    /// others share one: an attacker can invent any number of installations, and must not lock out the owner's phone. Sign-ins with a proof
    /// of the e-mail share another one, so that strangers cannot use up the budget of an owner with a new phone. Only failures that
    /// compared a face count: an earlier refusal discloses nothing about the account.
    public static let maxFailedSignIns = 5
    /// The time for which a failed sign-in of a known device counts: 15 minutes.
    public static let failedSignInWindow: Duration = .seconds(15 * 60)
    /// The time for which one of any other installation counts, so that their locks grow: 24 hours, the lifetime of a session.
    public static let strangersWindow: Duration = .seconds(24 * 60 * 60)

    /// Returns the sign-ins of an e-mail that count against the installation's next one, and blocks other new sign-ins of the e-mail until
    /// the transaction ends.
    ///
    /// Call in the transaction that inserts the next sign-in: two concurrent counts would both find room.
    ///
    /// - Parameters:
    ///   - attemptKeys: The e-mail, as in ``NewSession/attemptKey`` and ``NewSession/otherAttemptKeys``.
    ///   - userID: The account of the e-mail, or a decoy; an installation is known to an account.
    ///   - deviceKey: The key of which the upload has a proof; nil without one.
    ///   - installationKey: The installation; nil, for a phone without one, is not known.
    ///   - isProven: Whether the sign-in comes with a proof of the e-mail.
    public func lockSignInAttempts(
        attemptKeys: [UUID], userID: UUID, deviceKey: [UInt8]? = nil, installationKey: [UInt8]?, isProven: Bool = false
    ) async throws(PostgresError) -> SignInAttempts {
        try await db.execute(
            """
            SELECT pg_advisory_xact_lock(hashtextextended('sign_in:' || key::text, 0))
            FROM (SELECT unnest(\(attemptKeys)) AS key ORDER BY key) sorted
            """)
        let rows = try await db.query(
            """
            SELECT b.known IS NOT NULL AS is_known, f.id IS NOT NULL AS is_attempt, f.completed_at
            FROM (SELECT s.*, \(unescaped: AccessTokenRepository.knownDevice("s")) AS known
                  FROM (SELECT \(userID)::uuid AS user_id, \(deviceKey)::bytea AS device_key,
                            \(installationKey)::bytea AS installation_key, \(isProven) AS is_proven) s) b
            LEFT JOIN sessions f ON f.attempt_key = ANY(\(attemptKeys)) AND f.event = 'sign_in'
              AND (f.state IN ('received', 'processing') AND f.deadline_at > now() OR \(unescaped: Self.isCountedFailure))
              AND \(unescaped: Self.isOfSameBudget)
            """)
        let isKnown = try rows.required().decode("is_known", as: Bool.self)
        let attempts = try rows.column("is_attempt", as: Bool.self).count { $0 }
        let failedAt = try rows.column("completed_at", as: Date?.self).compactMap { $0 }
        return SignInAttempts(failedAt: failedAt, undecided: attempts - failedAt.count, isKnown: isKnown)
    }

    /// Takes the lock on the sign-ins of the session's e-mail; does nothing for a sign-up.
    func lockSignIns(ofSession id: UUID) async throws(PostgresError) {
        try await db.execute(
            """
            SELECT pg_advisory_xact_lock(hashtextextended('sign_in:' || key::text, 0))
            FROM (SELECT unnest(attempt_key || other_attempt_keys) AS key FROM sessions WHERE id = \(id) AND event = 'sign_in'
                  ORDER BY key) sorted
            """)
    }

    /// Returns the budget that is left to an undecided sign-in's installation if the sign-in fails now; nil for a sign-up, and for a
    /// decided session. Call with the lock on the sign-ins of its e-mail.
    ///
    /// - Parameter counts: Whether this failure counts.
    func budget(ofFailing id: UUID, counts: Bool) async throws(PostgresError) -> SignInBudget? {
        let rows = try await db.query(
            """
            SELECT now() AS at, b.known IS NOT NULL AS is_known, f.completed_at
            FROM (SELECT s.attempt_key || s.other_attempt_keys AS attempt_keys, s.device_key, s.installation_key,
                      s.verification_id IS NOT NULL AS is_proven, \(unescaped: AccessTokenRepository.knownDevice("s")) AS known
                  FROM sessions s WHERE s.id = \(id) AND s.event = 'sign_in' AND s.state IN ('received', 'processing')) b
            LEFT JOIN sessions f ON f.attempt_key = ANY(b.attempt_keys)
              AND \(unescaped: Self.isCountedFailure) AND \(unescaped: Self.isOfSameBudget)
            """)
        guard let first = rows.first else { return nil }
        let now = try first.decode("at", as: Date.self)
        let failedAt = try rows.column("completed_at", as: Date?.self).compactMap { $0 } + (counts ? [now] : [])
        return SignInBudget(failedAt: failedAt, isKnown: try first.decode("is_known"), at: now)
    }

    /// SQL condition: the session `f` counts against the budget of `b`, which has the same e-mail and says by what its device is known and
    /// whether the e-mail is proven. A device that is known by its installation has that budget with any key: keys are made at will.
    static let isOfSameBudget = """
        CASE b.known
        WHEN 'key' THEN f.device_key = b.device_key AND \(isOfKnownWindow)
        WHEN 'installation' THEN f.installation_key = b.installation_key AND \(isOfKnownWindow)
        ELSE (f.verification_id IS NOT NULL) = b.is_proven AND \(AccessTokenRepository.knownDevice("f")) IS NULL END
        """

    private static let isOfKnownWindow = """
        (f.completed_at IS NULL OR f.completed_at > now() - interval '\(failedSignInWindow.components.seconds) seconds')
        """

    /// SQL condition: the session `f` is a failed sign-in that still counts.
    ///
    /// Only failures that compared a face count (``SessionReason/comparesFaces``). A success resets the failures of its own device only:
    /// otherwise an attacker on another device could see from the lock when the owner signs in, and would get new attempts.
    static let isCountedFailure = """
        f.event = 'sign_in' AND f.state = 'failed' AND f.reason IN (\(SessionReason.comparedFaces)) AND f.forgiven_at IS NULL
        AND f.completed_at > now() - interval '\(strangersWindow.components.seconds) seconds'
        AND NOT EXISTS (
            SELECT FROM sessions o
            WHERE o.attempt_key = ANY(f.attempt_key || f.other_attempt_keys) AND o.event = 'sign_in' AND o.state = 'succeeded'
              AND (o.device_key = f.device_key
                   OR num_nulls(o.device_key, f.device_key) = 2 AND o.installation_key = f.installation_key)
              AND o.completed_at > f.completed_at)
        """
}

extension SessionReason {
    /// Whether a sign-in that fails for this reason has compared a face with the account's, and counts against the account: a stranger's
    /// photos without a face must not lock the owner out.
    package var comparesFaces: Bool {
        switch self {
        case .noMatch, .livenessFailed: true
        default: false
        }
    }

    /// The reasons that count, as a list of SQL.
    static let comparedFaces = allCases.filter(\.comparesFaces).map { "'\($0.rawValue)'" }.joined(separator: ", ")
}
