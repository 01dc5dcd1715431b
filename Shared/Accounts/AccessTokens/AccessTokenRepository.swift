public import FoundationEssentials
public import PostgresClient

/// Reads and writes `access_tokens`.
public struct AccessTokenRepository: Sendable {
    let db: any PostgresQueryable

    /// Works on a client or inside a transaction.
    public init(_ db: some PostgresQueryable) {
        self.db = db
    }

    /// Inserts a pair, whose tokens end with the sign-in at the latest. Throws a unique violation when one of the hashes exists.
    @discardableResult
    public func insert(_ new: NewAccessToken) async throws(PostgresError) -> AccessToken {
        let rows = try await db.query(
            """
            INSERT INTO access_tokens (id, user_id, session_id, family_id, access_hash, refresh_hash, installation_key,
                                       device_key, device_key_storage, is_moved, other_key_at, signed_in_at, expires_at, refresh_expires_at)
            SELECT \(new.id), \(new.userID), \(new.sessionID), \(new.familyID), \(new.accessHash), \(new.refreshHash),
                   \(new.installationKey), \(new.deviceKey?.thumbprint), \(new.deviceKey?.storage.rawValue),
                   \(new.isMoved), \(new.otherKeyAt), s.signed_in_at,
                   least(now() + make_interval(secs => \(new.lifetimes.access / .seconds(1))), s.ends_at),
                   least(now() + make_interval(secs => \(new.lifetimes.idle / .seconds(1))), s.ends_at)
            FROM (SELECT b.signed_in_at, b.signed_in_at + make_interval(secs => \(new.lifetimes.total / .seconds(1))) AS ends_at
                  FROM (SELECT coalesce(\(new.signedInAt)::timestamptz, now()) AS signed_in_at) b) s
            RETURNING *
            """)
        return try AccessToken(row: rows.required())
    }

    /// Returns the pair of a valid access token: neither expired nor revoked.
    public func find(accessHash: [UInt8]) async throws(PostgresError) -> AccessToken? {
        let query: PostgresQuery = """
            SELECT * FROM access_tokens
            WHERE access_hash = \(accessHash) AND revoked_at IS NULL AND expires_at > now()
            """
        let rows = try await db.query(query.readOnly())
        return try rows.first.map(AccessToken.init(row:))
    }

    /// Revokes the whole family of an access token: signs the device out.
    ///
    /// The token may already have been rotated, as when a logout and a refresh are sent at the same time.
    /// Call in a transaction, because the lock that prevents a rotation lasts only until its end.
    ///
    /// - Returns: The presented pair; `nil` when it is unknown or its family was revoked before.
    public func revoke(accessHash: [UInt8]) async throws(PostgresError) -> AccessToken? {
        let rows = try await db.query("SELECT * FROM access_tokens WHERE access_hash = \(accessHash)")
        guard let row = rows.first else { return nil }
        let presented = try AccessToken(row: row)
        try await lock(family: presented.familyID)
        // A separate statement: its snapshot includes the pair of a rotation that held the lock before.
        let revoked = try await db.execute(
            """
            UPDATE access_tokens SET revoked_at = now(), signed_out_at = now()
            WHERE family_id = \(presented.familyID) AND revoked_at IS NULL
            """)
        return revoked > 0 ? presented : nil
    }

    /// Returns whether a sign-in is valid, and locks it until the transaction ends: a revocation waits.
    ///
    /// Call in the transaction of the change that the sign-in authorises, before installations are locked: locks are taken in the
    /// order login, family, installation.
    public func hold(signIn family: UUID, of userID: UUID) async throws(PostgresError) -> Bool {
        try await lock(family: family)
        let rows = try await db.query(
            """
            SELECT EXISTS (
                SELECT FROM access_tokens WHERE family_id = \(family) AND user_id = \(userID)
                  AND revoked_at IS NULL AND refresh_expires_at > now()) AS held
            """)
        return try rows.first?.decode("held", as: Bool.self) ?? false
    }

    /// Revokes a user's earlier sign-ins on a device when a new one replaces them: an app keeps one pair, so the tokens of the
    /// others are lost or stolen.
    ///
    /// Call in the transaction that mints the new pair, before it binds the installation: locks are taken in the order login,
    /// family, installation.
    ///
    /// - Parameter family: The sign-in that replaces them, if it already exists; it is locked with the others.
    /// - Returns: The number of revoked pairs.
    @discardableResult
    public func supersede(
        userID: UUID, installationKey: [UInt8], except family: UUID? = nil
    ) async throws(PostgresError) -> Int {
        // Serialises logins of a user on a device, so that each sees the pair of the one before it.
        try await lock(loginOf: userID, on: installationKey)
        let rows = try await db.query(
            """
            SELECT DISTINCT family_id FROM access_tokens
            WHERE ((user_id = \(userID) AND installation_key = \(installationKey)) OR family_id = \(family))
              AND revoked_at IS NULL
            ORDER BY family_id
            """)
        var count = 0
        for row in rows {
            let found = try row.decode("family_id", as: UUID.self)
            try await lock(family: found)
            if found != family { count += try await revokeAll(familyID: found) }
        }
        return count
    }

    /// Locks sign-ins of this user on this device by other transactions until this one ends.
    func lock(loginOf userID: UUID, on installationKey: [UInt8]) async throws(PostgresError) {
        try await db.execute(
            """
            SELECT pg_advisory_xact_lock(hashtextextended(
                'login:' || (\(userID)::uuid)::text || encode((\(installationKey)::bytea), 'hex'), 0))
            """)
    }

    /// Deletes at most `limit` pairs whose refresh token has expired. Call ``SignInRepository/unregisterSignedOut(_:)`` for
    /// their devices in the same transaction.
    ///
    /// - Returns: The deleted pairs.
    public func deleteExpired(limit: Int) async throws(PostgresError) -> [AccessToken] {
        let rows = try await db.query(
            """
            DELETE FROM access_tokens WHERE id IN (
                SELECT id FROM access_tokens WHERE refresh_expires_at <= now()
                ORDER BY refresh_expires_at LIMIT \(limit) FOR UPDATE SKIP LOCKED)
            RETURNING *
            """)
        return try rows.map(AccessToken.init(row:))
    }
}
