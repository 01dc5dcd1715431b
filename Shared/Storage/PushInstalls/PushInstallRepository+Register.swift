public import FoundationEssentials
public import PostgresClient

extension PushInstallRepository {
    /// Registers an installation on which a user is signed in, and binds it to that user, even if it was bound to another.
    ///
    /// An unchanged installation that was seen within ``PushInstallLimits/seenInterval`` is not written. The generation increases when
    /// the value changes, and when the installation passes from one user to another, so that pushes for the former user no longer
    /// arrive; the first binding keeps it, so that a push that is being sent still does. An older registration does not restore an
    /// older value, but binds. Call in a transaction.
    public func register(
        _ registration: PushRegistration, userID: UUID
    ) async throws(PostgresError) -> RegisteredInstall {
        let replaced = try await removeOthers(holding: [registration])
        let rows = try await db.query(Self.upsertQuery([registration], userID: userID))
        guard let row = rows.first, try row.decode("user_id", as: UUID?.self) == userID else {
            // The row exists with a newer value, or was inserted while this statement ran.
            guard let bound = try await bind(installationKey: registration.installationKey, userID: userID) else {
                throw PostgresError(code: .decoding, message: "no installation found after an insert conflict")
            }
            return RegisteredInstall(install: bound.install, removedIDs: replaced + bound.removedIDs)
        }
        let install = try PushInstall(row: row)
        guard try row.decode("is_written", as: Bool.self) else {
            return RegisteredInstall(install: install, removedIDs: replaced)
        }
        let evicted = try await evict(from: userID, keeping: install.id)
        return RegisteredInstall(install: install, removedIDs: replaced + evicted)
    }

    /// Binds an existing installation to a user, even if it was bound to another; its value is unchanged. Call in a transaction.
    ///
    /// - Returns: `nil` when the installation is unknown.
    public func bind(installationKey: [UInt8], userID: UUID) async throws(PostgresError) -> RegisteredInstall? {
        let bound = try await installs(
            db.query(
                """
                UPDATE push_installs
                SET user_id = \(userID), generation = generation + (user_id IS NOT NULL)::integer
                WHERE installation_key = \(installationKey) AND user_id IS DISTINCT FROM \(userID)
                RETURNING *
                """))
        if let install = bound.first {
            let evicted = try await evict(from: userID, keeping: install.id)
            return RegisteredInstall(install: install, removedIDs: evicted)
        }
        return try await find(installationKeys: [installationKey]).first { $0.userID == userID }
            .map { RegisteredInstall(install: $0, removedIDs: []) }
    }

    /// Binds an installation to the user if it is unknown or has no user; an installation of another user is left alone.
    ///
    /// For tokens that are sent as part of another request, such as an image job: knowing an installation's id must neither allow
    /// pushes to the phone of its user, nor replacing that user's token. The age of such a token is unknown, so the value of an
    /// existing installation is unchanged. Call in a transaction.
    ///
    /// - Returns: `nil` when it belongs to another user.
    @discardableResult
    public func claim(
        _ registration: PushRegistration, userID: UUID
    ) async throws(PostgresError) -> RegisteredInstall? {
        let claimed = try await installs(
            db.query(
                """
                INSERT INTO push_installs AS p (installation_key, kind, value_sealed, value_hash, registered_at, last_seen_at,
                                                platform, locale, app_version, user_id)
                VALUES (\(registration.installationKey), \(registration.kind.rawValue), \(registration.valueSealed),
                        \(registration.valueHash), \(registration.seenAt), \(registration.seenAt), \(registration.platform),
                        \(registration.locale), \(registration.appVersion), \(userID))
                ON CONFLICT (installation_key) DO UPDATE
                SET user_id = EXCLUDED.user_id,
                    last_seen_at = CASE WHEN p.value_hash = EXCLUDED.value_hash
                                        THEN greatest(p.last_seen_at, EXCLUDED.last_seen_at) ELSE p.last_seen_at END
                WHERE p.user_id IS NULL
                   OR (p.user_id = EXCLUDED.user_id AND p.value_hash = EXCLUDED.value_hash
                       AND p.last_seen_at < EXCLUDED.last_seen_at - \(unescaped: Self.seenInterval))
                RETURNING *
                """))
        guard let install = claimed.first else {
            return try await find(installationKeys: [registration.installationKey]).first { $0.userID == userID }
                .map { RegisteredInstall(install: $0, removedIDs: []) }
        }
        let evicted = try await evict(from: userID, keeping: install.id)
        return RegisteredInstall(install: install, removedIDs: evicted)
    }

    /// Deletes an installation of a user who logs out, including its token, unless it already belongs to another user.
    ///
    /// The row is deleted, because there is no reason to keep a token without a user; the next login registers it again. At a logout,
    /// call in the transaction that revoked the sign-in, and only if there was something to revoke: a newer sign-in of the same user
    /// has revoked the older ones, and a late logout with one of those must not unregister the installation.
    ///
    /// - Parameter valueHash: Deletes the installation only if it has this value; `nil` for any. An app that has rotated its token
    ///   unregisters the old one afterwards, and keeps the new one.
    /// - Returns: The id of the deleted installation, for `device.removed`; `nil` when it was not the user's.
    @discardableResult
    public func unregister(
        installationKey: [UInt8], userID: UUID, holding valueHash: [UInt8]? = nil
    ) async throws(PostgresError) -> UUID? {
        let rows = try await db.query(
            """
            DELETE FROM push_installs
            WHERE installation_key = \(installationKey) AND user_id = \(userID)
              AND (\(valueHash)::bytea IS NULL OR value_hash = \(valueHash))
            RETURNING id
            """)
        return try rows.first.map { row throws(PostgresError) in try row.decode("id") }
    }

    /// Deletes a user's installations beyond ``PushInstallLimits/maxPerUser``: dead ones first, then those not seen for longest.
    private func evict(from userID: UUID, keeping id: UUID) async throws(PostgresError) -> [UUID] {
        // Serialises evictions of a user: the last one sees the installations that all others have added.
        try await db.execute("SELECT pg_advisory_xact_lock(hashtextextended('installs:' || (\(userID)::uuid)::text, 0))")
        let rows = try await db.query(
            """
            DELETE FROM push_installs WHERE id IN (
                SELECT id FROM push_installs WHERE user_id = \(userID)
                ORDER BY id <> \(id), state = 'invalid', last_seen_at DESC, id
                OFFSET \(unescaped: "\(PushInstallLimits.maxPerUser)"))
            RETURNING id
            """)
        return try rows.map { row throws(PostgresError) in try row.decode("id") }
    }

    /// Deletes other installations that hold the values of these registrations: a value belongs to one device.
    @discardableResult
    func removeOthers(holding registrations: [PushRegistration]) async throws(PostgresError) -> [UUID] {
        let rows = try await db.query(
            """
            DELETE FROM push_installs p
            USING unnest(\(registrations.map(\.valueHash)), \(registrations.map(\.installationKey))) AS s (hash, key)
            WHERE p.value_hash = s.hash AND p.installation_key <> s.key
            RETURNING p.id
            """)
        return try rows.map { row throws(PostgresError) in try row.decode("id") }
    }
}
