public import FoundationEssentials
public import PostgresClient

extension PushInstallRepository {
    /// Registers an installation on which a user is signed in, and binds it to that user, unless another user has it.
    ///
    /// See ``register(_:userID:)``. Call in a transaction.
    ///
    /// - Returns: `nil` when another user has the installation: knowing its id, or even its token, must not be enough to take it.
    public func registerUnlessHeld(
        _ registration: PushRegistration, userID: UUID
    ) async throws(PostgresError) -> RegisteredInstall? {
        try await write(registration, userID: userID) {
            $0.userID == nil || $0.userID == userID ? InstallChange(registering: registration, userID: userID, over: $0) : nil
        }
    }

    /// Registers an installation on which a user is signed in, and binds it to that user, even if it was bound to another: only for a user
    /// who has proven that their app receives the pushes to it. Use ``registerUnlessHeld(_:userID:)`` for all other users.
    ///
    /// An unchanged installation that was seen within ``PushInstallLimits/seenInterval`` is not written. The generation increases when
    /// the value changes, and when the installation passes from one user to another, so that pushes for the former user no longer arrive;
    /// the first binding keeps it, so that a push that is being sent still does. An older registration binds the installation, but does not
    /// restore an older value. Call in a transaction.
    public func register(
        _ registration: PushRegistration, userID: UUID
    ) async throws(PostgresError) -> RegisteredInstall {
        let registered = try await write(registration, userID: userID) {
            InstallChange(registering: registration, userID: userID, over: $0)
        }
        guard let registered else { throw PostgresError(code: .decoding, message: "a registration was not written") }
        return registered
    }

    /// Returns the registration that a row has been made by, as of another time.
    ///
    /// - Parameter seenAt: The time of the registration.
    /// - Returns: `nil` when the row is deleted.
    public func registration(of id: UUID, seenAt: Date) async throws(PostgresError) -> PushRegistration? {
        try await find(ids: [id]).first.map { row in
            PushRegistration(
                installationKey: row.installationKey, kind: row.kind, valueSealed: row.valueSealed, valueHash: row.valueHash,
                seenAt: seenAt)
        }
    }

    /// Confirms a user's own installation by a token that is sent as part of another request, such as an image job.
    ///
    /// The age of such a token is unknown, so the value of the installation is unchanged. Call in a transaction.
    ///
    /// - Returns: `nil` when the installation is not the user's: knowledge of its token must not suffice to push to a phone, or to bind an
    ///   installation that no app has registered.
    @discardableResult
    public func claim(
        _ registration: PushRegistration, userID: UUID
    ) async throws(PostgresError) -> RegisteredInstall? {
        try await write(registration, userID: userID, addsUnknown: false) {
            InstallChange(claiming: registration, userID: userID, over: $0)
        }
    }

    /// Returns the row with a user of an installation.
    func holder(of installationKey: [UInt8]) async throws(PostgresError) -> PushInstall? {
        let query: PostgresQuery =
            "SELECT * FROM push_installs WHERE installation_key = \(installationKey) AND user_id IS NOT NULL"
        return try await db.query(query.readOnly()).first.map(PushInstall.init(row:))
    }

    /// Adds a row without a user for a value, or finds the existing row, and returns its id.
    func addUnbound(_ new: PushRegistration) async throws(PostgresError) -> UUID {
        let rows = try await db.query(
            """
            INSERT INTO push_installs AS p (installation_key, kind, value_sealed, value_hash, registered_at, last_seen_at)
            VALUES (\(new.installationKey), \(new.kind.rawValue), \(new.valueSealed), \(new.valueHash), \(new.seenAt), \(new.seenAt))
            ON CONFLICT (value_hash) WHERE user_id IS NULL
            DO UPDATE SET last_seen_at = greatest(p.last_seen_at, EXCLUDED.last_seen_at),
                state = 'active', suspect_until = NULL, invalid_at = NULL, invalid_code = NULL
            RETURNING id
            """)
        return try rows.required().decode("id")
    }

    /// Serialises the bindings of an installation, so that two of them do not both find it without a user.
    func lock(installation key: [UInt8]) async throws(PostgresError) {
        try await db.execute("SELECT pg_advisory_xact_lock(hashtextextended('install:' || encode((\(key)::bytea), 'hex'), 0))")
    }

    /// Serialises the changes to the number of a user's installations: the last one sees what all others have added.
    func lock(installationsOf userID: UUID) async throws(PostgresError) {
        try await db.execute("SELECT pg_advisory_xact_lock(hashtextextended('installs:' || (\(userID)::uuid)::text, 0))")
    }

    /// Applies the change that `decide` makes to the registration's row, or inserts the row.
    ///
    /// - Parameter addsUnknown: Whether to insert an installation that has no row.
    /// - Returns: `nil` when `decide` returns `nil`, and for an unknown installation that is not to be added.
    private func write(
        _ registration: PushRegistration, userID: UUID, addsUnknown: Bool = true, _ decide: (PushInstall) -> InstallChange?
    ) async throws(PostgresError) -> RegisteredInstall? {
        try await lock(installation: registration.installationKey)
        while true {
            guard let row = try await changedRow(of: registration) else {
                guard addsUnknown else { return nil }
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

    /// Returns the row that a registration changes: the installation's row with a user, or else the row with the value and without a user.
    private func changedRow(of registration: PushRegistration) async throws(PostgresError) -> PushInstall? {
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

    /// Applies a change if the row has not changed since it was read; returns `nil` otherwise.
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
        try await lock(installationsOf: userID)
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
