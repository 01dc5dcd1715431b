public import FoundationEssentials
public import PostgresClient

/// Reads and writes `access_tokens`.
public struct AccessTokenRepository: Sendable {
    let db: any PostgresQueryable

    /// Works on a client or inside a transaction.
    public init(_ db: some PostgresQueryable) {
        self.db = db
    }

    /// Inserts a pair. Throws a unique violation when one of the hashes exists.
    @discardableResult
    public func insert(_ new: NewAccessToken) async throws(PostgresError) -> AccessToken {
        let rows = try await db.query(
            """
            INSERT INTO access_tokens (id, user_id, session_id, family_id, access_hash, refresh_hash, installation_key,
                                       expires_at, refresh_expires_at)
            VALUES (\(new.id), \(new.userID), \(new.sessionID), \(new.familyID), \(new.accessHash), \(new.refreshHash),
                    \(new.installationKey), now() + make_interval(secs => \(new.lifetime.inSeconds)),
                    now() + make_interval(secs => \(new.refreshLifetime.inSeconds)))
            RETURNING *
            """)
        guard let row = rows.first else {
            throw PostgresError(code: .decoding, message: "an insert returned no row")
        }
        return try AccessToken(row: row)
    }

    /// Returns the pair of a valid access token: neither expired nor revoked.
    public func find(accessHash: [UInt8]) async throws(PostgresError) -> AccessToken? {
        let query: PostgresQuery = """
            SELECT * FROM access_tokens
            WHERE access_hash = \(accessHash) AND revoked_at IS NULL AND expires_at > now()
            """
        let rows = try await db.query(query.readOnly())
        return try rows.first.map { row throws(PostgresError) in try AccessToken(row: row) }
    }

    /// Revokes the whole family of an access token: signs the device out.
    ///
    /// The token may have been rotated away already, as when a logout and a refresh cross on their way.
    /// Belongs in a transaction, because the lock that keeps a rotation out lasts only as long as that.
    ///
    /// - Returns: The presented pair; `nil` when it is unknown or nothing of its family was left to revoke.
    public func revoke(accessHash: [UInt8]) async throws(PostgresError) -> AccessToken? {
        let rows = try await db.query("SELECT * FROM access_tokens WHERE access_hash = \(accessHash)")
        guard let row = rows.first else { return nil }
        let presented = try AccessToken(row: row)
        try await lock(family: presented.familyID)
        // A statement of its own, whose snapshot has the pair of the rotation that held the lock before.
        let revoked = try await revokeAll(familyID: presented.familyID)
        return revoked > 0 ? presented : nil
    }

    /// Whether a sign-in is still good, and keeps it so until the transaction ends: what would end it waits.
    ///
    /// Belongs in the transaction of what the sign-in authorised, before installations are locked: locks are taken in the order
    /// login, family, installation.
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

    /// Revokes a user's earlier sign-ins on a device, because a new one takes their place: an app keeps one pair, so the
    /// others are in nobody's hands, or in the wrong ones.
    ///
    /// Belongs in the transaction that mints the new pair, before it binds the installation: locks are taken in the order
    /// login, family, installation.
    ///
    /// - Parameter family: The sign-in that takes their place, when it is there already; it is locked with the others.
    /// - Returns: How many pairs were revoked.
    @discardableResult
    public func supersede(
        userID: UUID, installationKey: [UInt8], except family: UUID? = nil
    ) async throws(PostgresError) -> Int {
        // One login of a user on a device at a time, so that each sees the pair of the one before it.
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

    /// Revokes every pair of a user, on all devices.
    ///
    /// - Returns: How many were revoked.
    @discardableResult
    public func revokeAll(userID: UUID) async throws(PostgresError) -> Int {
        try await db.execute(
            "UPDATE access_tokens SET revoked_at = now() WHERE user_id = \(userID) AND revoked_at IS NULL")
    }

    /// Waits until nobody else signs this user in on this device, and keeps it so until the transaction ends.
    func lock(loginOf userID: UUID, on installationKey: [UInt8]) async throws(PostgresError) {
        try await db.execute(
            """
            SELECT pg_advisory_xact_lock(hashtextextended(
                'login:' || (\(userID)::uuid)::text || encode((\(installationKey)::bytea), 'hex'), 0))
            """)
    }

    /// Deletes pairs whose refresh token has ended, at most `limit`. What follows for their devices
    /// (``PushInstallRepository/unregisterSignedOut(_:)``) belongs in the same transaction.
    ///
    /// - Returns: The pairs that were deleted.
    public func deleteExpired(limit: Int) async throws(PostgresError) -> [AccessToken] {
        let rows = try await db.query(
            """
            DELETE FROM access_tokens WHERE id IN (
                SELECT id FROM access_tokens WHERE refresh_expires_at <= now()
                ORDER BY refresh_expires_at LIMIT \(limit) FOR UPDATE SKIP LOCKED)
            RETURNING *
            """)
        return try rows.map { row throws(PostgresError) in try AccessToken(row: row) }
    }
}
