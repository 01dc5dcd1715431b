public import FoundationEssentials
public import PostgresClient
public import WireFormat

/// Reads and writes `sessions`. Every change of state is a compare-and-set, and a terminal state is final.
public struct SessionRepository: Sendable {
    /// The time after its success during which a sign-in can be redeemed: 5 minutes.
    public static let redemptionTime: Duration = .seconds(5 * 60)
    /// The time of a face engine that a photo counts at least: 25 ms, in which a face is found and described. A picture of a few pixels
    /// takes less, but its session costs rows of the database like any other.
    public static let photoCost: Duration = .milliseconds(25)

    let db: any PostgresQueryable

    /// Works on a client or inside a transaction.
    public init(_ db: some PostgresQueryable) {
        self.db = db
    }

    /// Inserts a session in the state `received`.
    @discardableResult
    public func insert(_ new: NewSession) async throws(PostgresError) -> Session {
        let photos = try jsonText(new.photos)
        let rows = try await db.query(
            """
            INSERT INTO sessions (id, user_id, event, lane, is_known, awaits_turn, cost_ms, authorised, authorised_by, verification_id,
                                  is_recovery, email_lookups, email_sealed, consent_version, consent_hash, attempt_key, other_attempt_keys,
                                  token_hash, device_key, install_id, installation_key, address_key, site_key, photos, photo_bytes,
                                  series_id, photos_kept_until, challenge, request_id, traceparent, deadline_at, expires_at)
            VALUES (\(new.id), \(new.userID), \(new.event.rawValue), \(new.lane.rawValue), \(new.isKnown), \(new.awaitsTurn),
                    \(Int32(clamping: Int(new.estimatedCost / .milliseconds(1)))), \(new.authorised), \(new.authorisedBy),
                    \(new.verificationID), \(new.isRecovery), \(new.email?.lookups), \(new.email?.sealed),
                    \(new.consent?.version), \(new.consent?.hash), \(new.attemptKey), \(new.otherAttemptKeys), \(new.tokenHash),
                    \(new.deviceKey),
                    \(new.installID), \(new.installationKey), \(new.origin.addressKey), \(new.origin.siteKey),
                    \(photos)::text::jsonb, \(new.photoBytes), \(new.retaken?.seriesID), \(new.retaken?.keptUntil),
                    \(new.challenge?.map(\.rawValue)), \(new.requestID), \(new.traceparent),
                    now() + make_interval(secs => \(new.processingTime / .seconds(1))),
                    now() + make_interval(secs => \(new.lifetime / .seconds(1))))
            RETURNING \(unescaped: Session.columns)
            """)
        return try Session(row: rows.required())
    }

    /// Returns a session whose record has not expired.
    public func find(id: UUID) async throws(PostgresError) -> Session? {
        let query: PostgresQuery =
            "SELECT \(unescaped: Session.columns) FROM sessions WHERE id = \(id) AND expires_at > now()"
        return try await db.query(query.readOnly()).first.map(Session.init(row:))
    }

    /// Begins to process a session: `received | processing → processing`.
    ///
    /// Accepts a session that is already `processing`, because its first worker may have crashed.
    ///
    /// - Returns: The session; `nil` when it is terminal, past its deadline, or deleted.
    public func beginProcessing(id: UUID) async throws(PostgresError) -> Session? {
        let rows = try await db.query(
            """
            UPDATE sessions SET state = 'processing', started_at = coalesce(started_at, now())
            WHERE id = \(id) AND state IN ('received', 'processing') AND deadline_at > now()
            RETURNING \(unescaped: Session.columns)
            """)
        return try rows.first.map(Session.init(row:))
    }

    /// Settles a session: `received | processing → succeeded | failed`. A failed sign-in records the attempts left in its
    /// installation's budget, or the end of the lock that it causes, and is not retryable then; the audit log records the lock. The e-mail
    /// of a sign-up is deleted. With some photos bad, the others are kept for a retake (``KeptPhotos``).
    ///
    /// Call in a transaction: of concurrently failing sign-ins of one e-mail, each counts those before it.
    ///
    /// - Parameters:
    ///   - problems: The bad photos; stored only with a reason of ``SessionReason/isOfPhotosAlone``.
    ///   - liveness: The result of the check for a live person; `failed` in any case for the reason `liveness_failed`.
    ///   - cost: The time of face engines that it took, counted as ``photoCost`` a photo at least; nil leaves the estimate.
    /// - Returns: Whether this call settled it. `false`: it was terminal before; the caller must not publish anything.
    public func complete(
        id: UUID, outcome: SessionOutcome, problems: [PhotoProblems] = [], liveness: Liveness = .notPerformed, cost: Duration? = nil
    ) async throws(PostgresError) -> Bool {
        let reason: SessionReason? = if case .failed(let reason) = outcome { reason } else { nil }
        let state: SessionState = reason == nil ? .succeeded : .failed
        let liveness = reason == .livenessFailed ? .failed : liveness
        var budget: SignInBudget?
        if let reason {
            try await lockSignIns(ofSession: id)
            budget = try await self.budget(ofFailing: id, counts: reason.comparesFaces)
        }
        let isRetryable = reason.map { $0.isRetryable && budget?.lockedUntil == nil }
        let named = reason?.isOfPhotosAlone == true ? problems : []
        let problems = try jsonText(named)
        let rows = try await db.query(
            """
            UPDATE sessions
            SET state = \(state.rawValue), reason = \(reason?.rawValue), photo_problems = \(problems)::text::jsonb,
                photos_kept_until = CASE WHEN \(!named.isEmpty) AND jsonb_array_length(photos) > \(Int32(named.count))
                    THEN \(unescaped: KeptPhotos.end) END,
                retryable = \(isRetryable),
                attempts_left = \(budget.map { Int32($0.attemptsLeft) }), locked_until = \(budget?.lockedUntil),
                liveness = \(liveness.rawValue),
                cost_ms = greatest(coalesce(\(cost.map { Int32(clamping: Int($0 / .milliseconds(1))) }), cost_ms),
                                   \(Int32(Self.photoCost / .milliseconds(1))) * jsonb_array_length(photos)),
                completed_at = now(), email_lookups = NULL, email_sealed = NULL
            WHERE id = \(id) AND state IN ('received', 'processing')
            RETURNING \(unescaped: Session.columns)
            """)
        guard let row = rows.first else { return false }
        let session = try Session(row: row)
        if session.lockedUntil != nil {
            try await AuditRepository(db).append(
                AuditEntry(.signInLocked, by: .anonymous, on: session.userID, object: id, requestID: session.requestID))
        }
        return true
    }

    /// Redeems a successful sign-in, once, within ``redemptionTime``, for the device that holds its session token.
    /// For a new device the time begins when the code of its verification is entered.
    ///
    /// Call in a transaction: it holds off ``SignInRepository/endAll(of:except:)`` until its end.
    ///
    /// - Parameter needsCode: Whether the device is new to the account, so that the code of its verification must have been entered.
    /// - Returns: The session; `nil` when one of these conditions fails, or all sign-ins of the user were ended after its upload. See
    ///   ``isRedeemed(id:tokenHash:)`` for a repetition.
    public func redeem(id: UUID, tokenHash: [UInt8], needsCode: Bool = false) async throws(PostgresError) -> Session? {
        try await SignInRepository(db).holdOffEnd(ofUserOf: id)
        let rows = try await db.query(
            """
            UPDATE sessions SET redeemed_at = now()
            WHERE id = \(id) AND token_hash = \(tokenHash) AND \(unescaped: Self.isRedeemable)
              AND CASE WHEN \(needsCode) THEN \(unescaped: Self.isVerified) ELSE \(unescaped: Self.isInTime) END
            RETURNING \(unescaped: Session.columns)
            """)
        return try rows.first.map(Session.init(row:))
    }

    /// Returns whether a code can be mailed for a sign-in, because it could be redeemed now by a known device.
    public func mayAskForCode(id: UUID) async throws(PostgresError) -> Bool {
        let query: PostgresQuery = """
            SELECT FROM sessions WHERE id = \(id) AND \(unescaped: Self.isRedeemable) AND \(unescaped: Self.isInTime)
            """
        return try await !db.query(query.readOnly()).isEmpty
    }

    /// Returns whether the holder of the session token has already redeemed a sign-in and may request its tokens again, which is
    /// possible within `redemptionTime`.
    ///
    /// In the transaction of a ``redeem(id:tokenHash:)`` that returned `nil`, it sees the commit of the concurrent redemption.
    public func isRedeemed(id: UUID, tokenHash: [UInt8]) async throws(PostgresError) -> Bool {
        let rows = try await db.query(
            """
            SELECT EXISTS (
                SELECT FROM sessions
                WHERE id = \(id) AND token_hash = \(tokenHash) AND redeemed_at IS NOT NULL AND expires_at > now()
                  AND (\(unescaped: Self.isInTime) OR \(unescaped: Self.isVerified))) AS redeemed
            """)
        return try rows.first?.decode("redeemed", as: Bool.self) ?? false
    }

    /// SQL condition: a session is a sign-in that has succeeded and was neither redeemed nor denied, and the user's sign-ins were not ended
    /// since.
    static let isRedeemable = """
        event = 'sign_in' AND state = 'succeeded' AND redeemed_at IS NULL AND expires_at > now()
        AND NOT EXISTS (SELECT FROM email_verifications d WHERE d.id = sessions.id AND d.denied_at IS NOT NULL)
        AND NOT EXISTS (SELECT FROM users u WHERE u.id = sessions.user_id AND u.sign_ins_ended_at >= sessions.created_at)
        """
    private static let redemptionInterval = "interval '\(redemptionTime.components.seconds) seconds'"
    private static let isInTime = "completed_at > now() - \(redemptionInterval)"
    /// SQL condition: the code of the session's verification was entered within ``redemptionTime``.
    private static let isVerified = """
        EXISTS (SELECT FROM email_verifications v
                WHERE v.id = sessions.id AND v.purpose = 'sign_in' AND v.verified_at > now() - \(redemptionInterval))
        """
}
