public import FoundationEssentials
public import PostgresClient

/// The result of presenting a refresh token.
public enum RefreshResult: Sendable, Equatable {
    /// A new pair replaced the old one.
    case rotated(AccessToken)
    /// The token was exchanged for this pair within ``AccessTokenRepository/repetitionTime``, and the pair is not used yet: the
    /// response of the first exchange may have been lost. The hash is that of the pair's refresh token.
    case repeated(AccessToken, refreshHash: [UInt8])
    /// The token had been used before, so a copy of it exists: the whole family is revoked.
    ///
    /// Carries the presented pair unless the family was revoked before: its device is signed out, and must be unregistered.
    case reused(AccessToken?)
    /// The sign-in has a key, and the token was presented without a proof of it. Nothing was changed, but that the proof of another key
    /// is noted: `isNews` tells whether none was noted within an hour.
    case otherKey(isNews: Bool, AccessToken)
    /// The token is unknown or expired.
    case unknown
}

extension AccessTokenRepository {
    /// The time during which a used refresh token gets the pair of its first exchange again: 30 seconds.
    public static let repetitionTime: Duration = .seconds(30)

    /// Exchanges a refresh token for a new pair of the same family, once; a repetition gets the pair of the first exchange.
    ///
    /// The caller derives the new tokens from the old one, so that a repeated exchange has the same hashes. Call in a transaction,
    /// and commit it whatever the result: a revocation must not be rolled back.
    ///
    /// - Parameters:
    ///   - otherRefreshHashes: The hashes that the first exchange may have stored instead, with another lookup key.
    ///   - deviceKey: The key of which the request has a proof. A sign-in without a key is bound to it.
    ///
    /// The key of a sign-in is that of its newest pair: a token from before it was bound does nothing without a proof either. Two keys that
    /// are proven with one such token show that a copy of it exists.
    public func rotate(
        refreshHash: [UInt8], newAccessHash: [UInt8], newRefreshHash: [UInt8], otherRefreshHashes: [[UInt8]] = [],
        deviceKey: DeviceKey? = nil, lifetimes: SignInLifetimes
    ) async throws(PostgresError) -> RefreshResult {
        let families = try await db.query("SELECT family_id FROM access_tokens WHERE refresh_hash = \(refreshHash)")
        guard let family = try families.first?.decode("family_id", as: UUID.self) else { return .unknown }
        try await lock(family: family)
        let rows = try await db.query(
            """
            SELECT *, revoked_at IS NOT NULL AS is_revoked,
                least(refresh_expires_at, signed_in_at + make_interval(secs => \(lifetimes.total / .seconds(1)))) <= now() AS is_over,
                coalesce(revoked_at > now() - make_interval(secs => \(Self.repetitionTime / .seconds(1))), false) AS is_recent,
                coalesce(device_key, (SELECT n.device_key FROM access_tokens n
                                      WHERE n.family_id = \(family) AND n.revoked_at IS NULL LIMIT 1)) AS family_key
            FROM access_tokens WHERE refresh_hash = \(refreshHash) FOR UPDATE
            """)
        guard let row = rows.first else { return .unknown }
        let old = try AccessToken(row: row)
        let isOfOtherKey = try row.decode("family_key", as: [UInt8]?.self).map { $0 != deviceKey?.thumbprint } ?? false
        if isOfOtherKey, deviceKey == nil || old.deviceKey != nil {
            return .otherKey(isNews: deviceKey == nil ? false : try await noteOtherKey(ofFamily: family), old)
        }
        if try row.decode("is_revoked", as: Bool.self) {
            if try row.decode("is_recent", as: Bool.self), !isOfOtherKey,
                let (pair, hash) = try await unused([newRefreshHash] + otherRefreshHashes, of: family)
            {
                return .repeated(pair, refreshHash: hash)
            }
            return .reused(try await revokeAll(familyID: family) > 0 ? old : nil)
        }
        if try row.decode("is_over", as: Bool.self) { return .unknown }
        try await db.execute("UPDATE access_tokens SET revoked_at = now() WHERE id = \(old.id)")
        var new = NewAccessToken(
            userID: old.userID, sessionID: old.sessionID, familyID: family, accessHash: newAccessHash, refreshHash: newRefreshHash,
            installationKey: old.installationKey, deviceKey: old.deviceKey ?? deviceKey, lifetimes: lifetimes,
            signedInAt: old.signedInAt)
        (new.isMoved, new.otherKeyAt) = (old.isMoved, old.otherKeyAt)
        return .rotated(try await insert(new))
    }

    /// Records that a token of a sign-in came with a proof of another key than the sign-in's.
    ///
    /// - Returns: Whether none was recorded within an hour: then the caller writes an entry of the audit log, so that the thief of a token
    ///   cannot fill it.
    public func noteOtherKey(ofFamily family: UUID) async throws(PostgresError) -> Bool {
        try await db.execute(
            """
            UPDATE access_tokens SET other_key_at = now()
            WHERE family_id = \(family) AND revoked_at IS NULL
              AND (other_key_at IS NULL OR other_key_at < now() - interval '1 hour')
            """) > 0
    }

    /// Returns the pair of one of some refresh tokens, unless it was exchanged or revoked.
    private func unused(_ refreshHashes: [[UInt8]], of family: UUID) async throws(PostgresError) -> (AccessToken, hash: [UInt8])? {
        let rows = try await db.query(
            """
            SELECT * FROM access_tokens
            WHERE refresh_hash = ANY(\(refreshHashes)) AND family_id = \(family) AND revoked_at IS NULL
            """)
        guard let row = rows.first else { return nil }
        return (try AccessToken(row: row), try row.decode("refresh_hash"))
    }

    /// Locks a family against changes by other transactions until this one ends.
    ///
    /// Without the lock, a revocation would not see the pair that a concurrent rotation is adding.
    func lock(family: UUID) async throws(PostgresError) {
        try await db.execute("SELECT pg_advisory_xact_lock(hashtextextended('family:' || (\(family)::uuid)::text, 0))")
    }

    /// Revokes every pair of a family that is not revoked yet, and returns their number.
    @discardableResult
    func revokeAll(familyID: UUID) async throws(PostgresError) -> Int {
        try await db.execute(
            "UPDATE access_tokens SET revoked_at = now() WHERE family_id = \(familyID) AND revoked_at IS NULL")
    }
}
