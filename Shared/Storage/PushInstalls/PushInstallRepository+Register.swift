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
        let registered = try await write(registration, userID: userID) {
            InstallChange(registering: registration, userID: userID, over: $0)
        }
        guard let registered else { throw PostgresError(code: .decoding, message: "a registration was not written") }
        return registered
    }

    /// Binds the installation of a redeemed sign-in to its user, with the value that the upload delivered. Call in a transaction.
    ///
    /// - Parameters:
    ///   - id: The row of the upload, as in `sessions.install_id`.
    ///   - seenAt: The time of the upload.
    /// - Returns: The installation, which is another row than `id` if the installation has a row with a user; `nil` when `id` is deleted.
    public func bind(_ id: UUID, userID: UUID, seenAt: Date) async throws(PostgresError) -> RegisteredInstall? {
        guard let row = try await find(ids: [id]).first else { return nil }
        let registration = PushRegistration(
            installationKey: row.installationKey, kind: row.kind, valueSealed: row.valueSealed, valueHash: row.valueHash, seenAt: seenAt)
        return try await register(registration, userID: userID)
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
        try await write(registration, userID: userID) { InstallChange(claiming: registration, userID: userID, over: $0) }
    }

    /// Applies the change that `decide` makes to the registration's row, or inserts the row.
    ///
    /// - Returns: `nil` when `decide` returns `nil`.
    private func write(
        _ registration: PushRegistration, userID: UUID, _ decide: (PushInstall) -> InstallChange?
    ) async throws(PostgresError) -> RegisteredInstall? {
        // Serialises the bindings of an installation, so that two of them do not both find it without a user.
        try await db.execute(
            "SELECT pg_advisory_xact_lock(hashtextextended('install:' || encode((\(registration.installationKey)::bytea), 'hex'), 0))")
        while true {
            guard let row = try await row(of: registration) else {
                let install = try await insert(registration, userID: userID)
                return RegisteredInstall(install: install, removedIDs: try await evict(from: userID, keeping: install.id))
            }
            guard let change = decide(row) else { return nil }
            if change == .none { return RegisteredInstall(install: row, removedIDs: []) }
            // Nil: FCM's report or an expiry has changed the row meanwhile.
            guard let install = try await apply(change, of: registration, userID: userID, to: row) else { continue }
            let evicted = row.userID == userID ? [] : try await evict(from: userID, keeping: install.id)
            return RegisteredInstall(install: install, removedIDs: evicted)
        }
    }

    /// Returns the row that a registration changes: the installation's row with a user, or else the row without one that has the value.
    private func row(of registration: PushRegistration) async throws(PostgresError) -> PushInstall? {
        let query: PostgresQuery = """
            SELECT * FROM push_installs
            WHERE (installation_key = \(registration.installationKey) AND user_id IS NOT NULL)
               OR (value_hash = \(registration.valueHash) AND user_id IS NULL)
            ORDER BY user_id IS NULL LIMIT 1
            """
        return try await db.query(query.readOnly()).first.map(PushInstall.init(row:))
    }

    private func insert(_ new: PushRegistration, userID: UUID) async throws(PostgresError) -> PushInstall {
        let rows = try await db.query(
            """
            INSERT INTO push_installs (installation_key, kind, value_sealed, value_hash, registered_at, last_seen_at, platform, locale,
                                       app_version, user_id)
            VALUES (\(new.installationKey), \(new.kind.rawValue), \(new.valueSealed), \(new.valueHash), \(new.seenAt), \(new.seenAt),
                    \(new.platform), \(new.locale), \(new.appVersion), \(userID))
            RETURNING *
            """)
        return try PushInstall(row: rows.required())
    }

    /// Applies a change if the row is as it was read; returns `nil` otherwise.
    private func apply(
        _ change: InstallChange, of new: PushRegistration, userID: UUID, to row: PushInstall
    ) async throws(PostgresError) -> PushInstall? {
        let isPassedOn = row.userID != nil && row.userID != userID
        let isNewValue = row.valueHash != new.valueHash
        let update: PostgresQuery =
            switch change {
            case .none: preconditionFailure("no change has no statement")
            case .seen:
                """
                UPDATE push_installs SET last_seen_at = greatest(last_seen_at, \(new.seenAt))
                WHERE id = \(row.id) AND user_id = \(userID) RETURNING *
                """
            case .bind:
                """
                UPDATE push_installs SET user_id = \(userID), generation = generation + \(isPassedOn ? 1 : 0)
                WHERE id = \(row.id) AND user_id IS NOT DISTINCT FROM \(row.userID) RETURNING *
                """
            case .replace:
                """
                UPDATE push_installs
                SET user_id = \(userID), generation = generation + \(isNewValue || isPassedOn ? 1 : 0),
                    kind = \(new.kind.rawValue), value_sealed = \(new.valueSealed), value_hash = \(new.valueHash),
                    registered_at = CASE WHEN \(isNewValue) OR state NOT IN ('active', 'stale') THEN \(new.seenAt) ELSE registered_at END,
                    last_seen_at = greatest(last_seen_at, \(new.seenAt)), platform = coalesce(\(new.platform), platform),
                    locale = coalesce(\(new.locale), locale), app_version = coalesce(\(new.appVersion), app_version),
                    state = 'active', suspect_until = NULL, invalid_at = NULL, invalid_code = NULL
                WHERE id = \(row.id) AND generation = \(row.generation) AND state = \(row.state.rawValue)
                  AND user_id IS NOT DISTINCT FROM \(row.userID) RETURNING *
                """
            }
        return try await db.query(update).first.map(PushInstall.init(row:))
    }

    /// Deletes an installation of a user who logs out, including its token, unless it already belongs to another user.
    ///
    /// The row is deleted, because there is no reason to keep a token without a user; the next login registers it again. At a logout,
    /// call in the transaction that revoked the sign-in, and only if there was something to revoke: a newer sign-in of the same user
    /// has revoked the older ones, and a late logout with one of those must not unregister the installation.
    ///
    /// - Parameter valueHash: Deletes the installation only if it has this value; `nil` for any. An app that has rotated its token
    ///   unregisters the old one afterwards, and keeps the new one.
    /// - Returns: The id of the deleted installation; `nil` when it was not the user's.
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
        return try rows.first?.decode("id")
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
        return try rows.column("id")
    }
}
