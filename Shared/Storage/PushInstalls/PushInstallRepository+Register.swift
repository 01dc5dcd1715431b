public import FoundationEssentials
public import PostgresClient

extension PushInstallRepository {
    /// Registers an installation that a user is signed in on, and makes it theirs, whoever had it before.
    ///
    /// One that is unchanged and was seen within ``PushInstallLimits/seenInterval`` is not written. The generation grows when
    /// the value changes, and when it passes from one user to another, so that what was meant for the former user no longer
    /// arrives; the first binding keeps it, so that the push that is just under way still does. An older registration does
    /// not bring an older value back, but binds. Belongs in a transaction.
    public func register(
        _ registration: PushRegistration, userID: UUID
    ) async throws(PostgresError) -> RegisteredInstall {
        let replaced = try await removeOthers(holding: [registration])
        let rows = try await db.query(Self.upsertQuery([registration], userID: userID))
        guard let row = rows.first, try row.decode("user_id", as: UUID?.self) == userID else {
            // It is there, with a newer value than this one; or it came while this statement ran.
            guard let bound = try await bind(installationKey: registration.installationKey, userID: userID) else {
                throw PostgresError(code: .decoding, message: "an installation conflicted and then was not there")
            }
            return RegisteredInstall(
                install: bound.install, isChanged: bound.isChanged, removedIDs: replaced + bound.removedIDs)
        }
        let install = try PushInstall(row: row)
        guard try row.decode("is_written", as: Bool.self) else {
            return RegisteredInstall(install: install, isChanged: false, removedIDs: replaced)
        }
        let evicted = try await evict(from: userID, keeping: install.id)
        return RegisteredInstall(install: install, isChanged: true, removedIDs: replaced + evicted)
    }

    /// Binds a known installation to a user, whoever had it before; its value stays as it is. Belongs in a transaction.
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
            return RegisteredInstall(install: install, isChanged: true, removedIDs: evicted)
        }
        return try await find(installationKeys: [installationKey]).first { $0.userID == userID }
            .map { RegisteredInstall(install: $0, isChanged: false, removedIDs: []) }
    }

    /// Makes an installation the user's if it is unknown or nobody's; one that is somebody else's is left alone.
    ///
    /// For a token that only comes along with something else, such as an image job: whoever knows an installation's id shall
    /// neither be able to push to the phone of the user it belongs to, nor to put another token in the place of that user's.
    /// Nor does such a token say how old it is, so that of a known installation the value stays as it was registered.
    /// Belongs in a transaction.
    ///
    /// - Returns: `nil` when it is somebody else's.
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
                .map { RegisteredInstall(install: $0, isChanged: false, removedIDs: []) }
        }
        let evicted = try await evict(from: userID, keeping: install.id)
        return RegisteredInstall(install: install, isChanged: true, removedIDs: evicted)
    }

    /// Takes an installation from a user who logs out, token and all, unless it is already somebody else's.
    ///
    /// The row is deleted, because there is no reason to keep the token of nobody; the next login registers it again.
    /// At a logout it belongs in the transaction that revoked the sign-in that ends, and only if there was something to
    /// revoke: a newer sign-in of the same user has revoked the older ones, whose late logout must leave it to that one.
    ///
    /// - Parameter valueHash: The value it has to hold for that; `nil` for any. An app that has rotated its token gives the old
    ///   one back afterwards, and keeps the new one.
    /// - Returns: The id of the installation that was the user's, for `device.removed`; `nil` when it was not.
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

    /// Deletes what a user has beyond ``PushInstallLimits/perUserMax``: dead ones first, then those not seen for longest.
    private func evict(from userID: UUID, keeping id: UUID) async throws(PostgresError) -> [UUID] {
        // One at a time for a user: the last one sees what all others have added.
        try await db.execute("SELECT pg_advisory_xact_lock(hashtextextended('installs:' || (\(userID)::uuid)::text, 0))")
        let rows = try await db.query(
            """
            DELETE FROM push_installs WHERE id IN (
                SELECT id FROM push_installs WHERE user_id = \(userID)
                ORDER BY id <> \(id), state = 'invalid', last_seen_at DESC, id
                OFFSET \(unescaped: "\(PushInstallLimits.perUserMax)"))
            RETURNING id
            """)
        return try rows.map { row throws(PostgresError) in try row.decode("id") }
    }

    /// Deletes installations that hold the value of another one that registers: a value is one device's.
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
