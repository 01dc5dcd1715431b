public import FoundationEssentials
public import PostgresClient
internal import Push

/// Lists the sign-ins of an account, and ends them: revokes their tokens, unregisters their installations and hides their presence.
///
/// Locks are taken in the order user, login, family, installation.
public struct SignInRepository: Sendable {
    /// The maximum number of sign-ins in a list; the newest ones are in it.
    public static let maxListed = 200
    /// The time for which an installation stays registered after it was signed out, so that a push can tell it why: 10 minutes.
    static let noticeTime: Duration = .seconds(10 * 60)
    /// The time after a sign-in during which it allows requests that a stolen token must not allow: 5 minutes.
    public static let recentTime: Duration = .seconds(5 * 60)

    let db: any PostgresQueryable

    /// Works on a client or, for everything but the list, inside a transaction.
    public init(_ db: some PostgresQueryable) {
        self.db = db
    }

    /// Returns the sign-ins of a user that can still be used, the last used first.
    public func list(of userID: UUID) async throws(PostgresError) -> [SignIn] {
        let query: PostgresQuery = """
            SELECT t.family_id, t.signed_in_at, t.created_at, t.refresh_expires_at, t.installation_key, t.device_key_storage,
                   i.platform, i.app_version, i.locale
            FROM access_tokens t
            LEFT JOIN push_installs i ON i.installation_key = t.installation_key AND i.user_id = t.user_id
            WHERE t.user_id = \(userID) AND t.revoked_at IS NULL AND t.refresh_expires_at > now()
            ORDER BY t.created_at DESC, t.family_id LIMIT \(Self.maxListed)
            """
        return try await db.query(query.readOnly()).map(SignIn.init(row:))
    }

    /// Ends a sign-in of a user.
    ///
    /// - Returns: The ended tokens and installations, empty if the sign-in had ended before; `nil` when the user has no such sign-in.
    public func end(_ id: UUID, of userID: UUID) async throws(PostgresError) -> EndedSignIns? {
        let tokens = AccessTokenRepository(db)
        try await tokens.lock(family: id)
        // Pairs are kept until they would have expired, so an ended sign-in is known for a while.
        let known = try await db.query("SELECT FROM access_tokens WHERE family_id = \(id) AND user_id = \(userID) LIMIT 1")
        guard !known.isEmpty else { return nil }
        // A device whose sign-in is ended from elsewhere is new, also if it has signed itself out before.
        try await db.execute(
            """
            UPDATE access_tokens SET signed_out_at = NULL
            WHERE user_id = \(userID) AND signed_out_at IS NOT NULL
              AND device_key IN (SELECT device_key FROM access_tokens WHERE family_id = \(id) AND device_key IS NOT NULL)
            """)
        return try await revoke([id], of: userID)
    }

    /// Ends all sign-ins of a user, or all but one. A sign-in that was uploaded before and is not redeemed yet gives no tokens.
    ///
    /// - Parameters:
    ///   - time: Sign-ins with identity providers before that time end as well; `nil` for all until now.
    ///   - isNoticed: Whether a push tells the installations: then they stay registered for ``noticeTime``.
    public func endAll(
        of userID: UUID, except kept: UUID? = nil, providersBefore time: Date? = nil, isNoticed: Bool = false
    ) async throws(PostgresError) -> EndedSignIns {
        try await lock(of: userID)
        try await FederatedIdentityRepository(db).revokeAll(userID: userID, before: time)
        // Not the time of the transaction, which may have waited for the lock: sign-ins that were uploaded meanwhile end as well.
        try await db.enqueue("UPDATE users SET sign_ins_ended_at = clock_timestamp() WHERE id = \(userID)")
        let rows = try await db.query(
            """
            SELECT family_id, pg_advisory_xact_lock(hashtextextended('family:' || family_id::text, 0))
            FROM (SELECT DISTINCT family_id FROM access_tokens
                  WHERE user_id = \(userID) AND revoked_at IS NULL AND family_id IS DISTINCT FROM \(kept)::uuid
                  ORDER BY family_id) families
            """)
        return try await revoke(try rows.column("family_id"), of: userID, isNoticed: isNoticed)
    }

    /// Unregisters the installation of a sign-in that was revoked, unless another user has signed in on it since.
    public func signOut(deviceOf revoked: AccessToken) async throws(PostgresError) -> EndedSignIns {
        guard let key = revoked.installationKey else { return EndedSignIns(ids: [revoked.familyID]) }
        return EndedSignIns(ids: [revoked.familyID], removedInstalls: try await unregister([key], of: revoked.userID))
    }

    /// Locks the sign-ins of a user until the transaction ends: no sign-in is redeemed meanwhile.
    ///
    /// A transaction that calls ``endAll(of:except:)`` after it has locked a sign-in takes this lock before that one.
    public func lock(of userID: UUID) async throws(PostgresError) {
        try await db.enqueue("SELECT pg_advisory_xact_lock(hashtextextended('sign_ins:' || (\(userID)::uuid)::text, 0))")
    }

    /// Returns whether the sign-in that asked for a change is still valid, and keeps it so until the transaction ends. Call before
    /// installations are locked.
    ///
    /// - Parameters:
    ///   - signIn: The sign-in; `nil` for one with an identity provider.
    ///   - time: The time since which no sign-in with an identity provider may have been revoked.
    public func hold(_ signIn: UUID?, of userID: UUID, since time: Date) async throws(PostgresError) -> Bool {
        guard let signIn else { return try await FederatedIdentityRepository(db).hold(signInsOf: userID, since: time) }
        return try await AccessTokenRepository(db).hold(signIn: signIn, of: userID)
    }

    /// Makes ``endAll(of:except:)`` for the user of a session wait until the transaction ends. A transaction that locks a verification and
    /// redeems its session takes this lock first.
    public func holdOffEnd(ofUserOf session: UUID) async throws(PostgresError) {
        try await db.enqueue(
            """
            SELECT pg_advisory_xact_lock_shared(hashtextextended('sign_ins:' || user_id::text, 0)) FROM sessions WHERE id = \(session)
            """)
    }

    /// Revokes families that the transaction has locked.
    private func revoke(_ ids: [UUID], of userID: UUID, isNoticed: Bool = false) async throws(PostgresError) -> EndedSignIns {
        guard !ids.isEmpty else { return EndedSignIns() }
        let rows = try await db.query(
            """
            UPDATE access_tokens
            SET revoked_at = now(),
                unregister_at = CASE WHEN \(isNoticed) THEN now() + make_interval(secs => \(Self.noticeTime / .seconds(1))) END
            WHERE family_id = ANY(\(ids)) AND user_id = \(userID) AND revoked_at IS NULL
            RETURNING family_id, installation_key
            """)
        let keys = try rows.column("installation_key", as: [UInt8]?.self).compactMap { $0 }
        let ids: [UUID] = try rows.column("family_id")
        guard !isNoticed else {
            try await hide(keys, of: userID)
            return EndedSignIns(ids: ids)
        }
        return EndedSignIns(ids: ids, removedInstalls: try await unregister(keys, of: userID))
    }

    /// Unregisters at most `limit` installations whose time of notice is over, unless their user has signed in on them again.
    ///
    /// - Returns: The number of sign-ins with examined installations, and the ids of the unregistered installations.
    public func unregisterNoticed(limit: Int) async throws(PostgresError) -> (signIns: Int, removedInstalls: [UUID]) {
        let rows = try await db.query(
            """
            UPDATE access_tokens SET unregister_at = NULL WHERE id IN (
                SELECT id FROM access_tokens WHERE unregister_at <= now() ORDER BY unregister_at LIMIT \(limit) FOR UPDATE SKIP LOCKED)
            RETURNING *
            """)
        let ended = try rows.map(AccessToken.init(row:))
        return (ended.count, try await unregisterSignedOut(ended))
    }

    private func hide(_ keys: [[UInt8]], of userID: UUID) async throws(PostgresError) {
        try await db.enqueue("DELETE FROM push_presence WHERE user_id = \(userID) AND installation_key = ANY(\(keys))")
    }

    /// Unregisters installations of a user, except those on which another user has signed in since, and hides their presence.
    ///
    /// - Returns: The ids of the unregistered installations.
    public func unregister(_ keys: [[UInt8]], of userID: UUID) async throws(PostgresError) -> [UUID] {
        guard !keys.isEmpty else { return [] }
        try await hide(keys, of: userID)
        let rows = try await db.query(
            "DELETE FROM push_installs WHERE user_id = \(userID) AND installation_key = ANY(\(keys)) RETURNING id")
        return try rows.column("id")
    }
}
