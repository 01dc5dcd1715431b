public import FoundationEssentials
public import PostgresClient

/// The result of claiming an installation.
public enum InstallClaim: Sendable, Equatable {
    /// The claim is new: the nonce is to be pushed to the installation of this id.
    case opened(InstallHandOver, checkedInstallID: UUID)
    /// The same claim was made within ``InstallHandOverLimits/repetitionTime``; its nonce is on the way.
    case repeated(InstallHandOver)
    /// A limit of ``InstallHandOverLimits`` is reached.
    case limited
}

/// Reads and writes `install_hand_overs`.
public struct InstallHandOverRepository: Sendable {
    let db: any PostgresQueryable

    /// Works on a client or inside a transaction.
    public init(_ db: some PostgresQueryable) {
        self.db = db
    }

    /// Claims an installation; replaces the user's earlier claim of it.
    ///
    /// The claimed value gets a row without a user, to which the nonce is pushed. The present user's row may have the same value, but is
    /// deleted at a logout, which must not take the claim with it. Call in a transaction: locks are taken in the order installation,
    /// installations of the user.
    public func open(_ new: NewInstallHandOver) async throws(PostgresError) -> InstallClaim {
        let key = new.registration.installationKey
        try await PushInstallRepository(db).lock(installation: key)
        try await PushInstallRepository(db).lock(installationsOf: new.userID)
        if let same = try await repetition(of: new) { return .repeated(same) }
        let holder = try await PushInstallRepository(db).holder(of: key)
        let isHeldValue = holder?.valueHash == new.registration.valueHash
        guard try await isAllowed(new, isHeldValue: isHeldValue) else { return .limited }
        try await db.execute(
            """
            UPDATE install_hand_overs SET state = 'replaced'
            WHERE installation_key = \(key) AND user_id = \(new.userID) AND state = 'pending'
            """)
        let installID = try await PushInstallRepository(db).addUnbound(new.registration)
        let rows = try await db.query(
            """
            INSERT INTO install_hand_overs (id, installation_key, install_id, user_id, former_user_id, sign_in_id, nonce_hash,
                                            is_held_value, platform, locale, app_version, expires_at)
            VALUES (\(new.id), \(key), \(installID), \(new.userID), \(holder?.userID), \(new.signInID), \(new.nonceHash),
                    \(isHeldValue), \(new.registration.platform), \(new.registration.locale), \(new.registration.appVersion),
                    now() + make_interval(secs => \(InstallHandOverLimits.lifetime / .seconds(1))))
            RETURNING *
            """)
        return .opened(try InstallHandOver(row: rows.required()), checkedInstallID: installID)
    }

    /// Returns the user's pending claim of the same value by the same sign-in, if its push is new.
    private func repetition(of new: NewInstallHandOver) async throws(PostgresError) -> InstallHandOver? {
        let rows = try await db.query(
            """
            SELECT h.* FROM install_hand_overs h JOIN push_installs i ON i.id = h.install_id
            WHERE h.installation_key = \(new.registration.installationKey) AND h.user_id = \(new.userID) AND h.state = 'pending'
              AND h.sign_in_id IS NOT DISTINCT FROM \(new.signInID) AND i.value_hash = \(new.registration.valueHash)
              AND h.created_at > now() - make_interval(secs => \(InstallHandOverLimits.repetitionTime / .seconds(1)))
            """)
        return try rows.first.map(InstallHandOver.init(row:))
    }

    private func isAllowed(_ new: NewInstallHandOver, isHeldValue: Bool) async throws(PostgresError) -> Bool {
        let rows = try await db.query(
            """
            SELECT (SELECT count(*) FROM install_hand_overs
                    WHERE user_id = \(new.userID)
                      AND created_at > now() - make_interval(secs => \(InstallHandOverLimits.window / .seconds(1)))) AS of_user,
                   (SELECT count(*) FROM install_hand_overs
                    WHERE installation_key = \(new.registration.installationKey) AND user_id <> \(new.userID) AND state = 'pending'
                      AND expires_at > now() AND is_held_value = \(isHeldValue)) AS of_installation
            """)
        let row = try rows.required()
        let ofInstallation = try row.decode("of_installation", as: Int64.self)
        return try row.decode("of_user", as: Int64.self) < InstallHandOverLimits.maxPerUser
            && ofInstallation < InstallHandOverLimits.maxPerInstallation
    }

    /// Returns a user's claim if the nonce is its own and it is completed or still pending.
    public func find(id: UUID, nonceHash: [UInt8], of userID: UUID) async throws(PostgresError) -> InstallHandOver? {
        let query: PostgresQuery = """
            SELECT * FROM install_hand_overs
            WHERE id = \(id) AND user_id = \(userID) AND nonce_hash = \(nonceHash)
              AND (state = 'completed' OR (state = 'pending' AND expires_at > now()))
            """
        return try await db.query(query.readOnly()).first.map(InstallHandOver.init(row:))
    }

    /// Gives the installation to the claimant, who has returned the nonce: `pending → completed`. A repetition changes nothing, and
    /// returns the installation as long as the claimant has it.
    ///
    /// Call in a transaction, after the claimant's sign-in is locked, and roll it back if the result is `nil`.
    ///
    /// - Returns: The installation; `nil` when the claim has ended, or when another user than the former one has the installation by now.
    public func complete(_ handOver: InstallHandOver) async throws(PostgresError) -> RegisteredInstall? {
        let installs = PushInstallRepository(db)
        try await installs.lock(installation: handOver.installationKey)
        let holder = try await installs.holder(of: handOver.installationKey)
        // Read again: a concurrent repetition may have completed it.
        guard let current = try await find(handOver.id), let installID = current.installID else { return nil }
        if current.state == .completed {
            return holder?.id == installID && holder?.userID == handOver.userID
                ? holder.map { RegisteredInstall(install: $0, removedIDs: []) } : nil
        }
        let owners = [nil, current.userID, current.formerUserID]
        // FCM has just delivered to the value, so it is the installation's newest.
        guard current.state == .pending, owners.contains(holder?.userID),
            var value = try await installs.registration(of: installID, seenAt: Date())
        else { return nil }
        value.platform = current.platform
        value.locale = current.locale
        value.appVersion = current.appVersion
        let registered = try await installs.register(value, userID: current.userID)
        let completed = try await db.execute(
            """
            UPDATE install_hand_overs SET state = 'completed', install_id = \(registered.install.id)
            WHERE id = \(current.id) AND state = 'pending' AND expires_at > now()
            """)
        guard completed == 1 else { return nil }
        if registered.install.id != installID { try await installs.deleteUnneeded(ids: [installID]) }
        return registered
    }

    private func find(_ id: UUID) async throws(PostgresError) -> InstallHandOver? {
        try await db.query("SELECT * FROM install_hand_overs WHERE id = \(id)").first.map(InstallHandOver.init(row:))
    }

    /// Deletes at most `limit` claims that are no longer counted.
    @discardableResult
    public func deleteExpired(limit: Int) async throws(PostgresError) -> Int {
        try await db.execute(
            """
            DELETE FROM install_hand_overs WHERE id IN (
                SELECT id FROM install_hand_overs
                WHERE created_at < now() - make_interval(secs => \(InstallHandOverLimits.window / .seconds(1)))
                ORDER BY created_at LIMIT \(limit) FOR UPDATE SKIP LOCKED)
            """)
    }
}
