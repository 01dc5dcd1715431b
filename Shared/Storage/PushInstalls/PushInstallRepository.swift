public import FoundationEssentials
public import PostgresClient

/// Reads and writes `push_installs`.
public struct PushInstallRepository: Sendable {
    let db: any PostgresQueryable

    /// Works on a client or inside a transaction.
    public init(_ db: some PostgresQueryable) {
        self.db = db
    }

    /// Registers one installation; see the batch form.
    public func upsertSeen(_ registration: PushRegistration) async throws(PostgresError) -> PushInstall {
        guard let install = try await upsertSeen([registration]).first else {
            throw PostgresError(code: .decoding, message: "an installation conflicted and then was not there")
        }
        return install
    }

    /// Registers installations: makes the unknown ones, renews the known ones. To whom they are bound is not touched.
    ///
    /// An unchanged one that was seen within a day is not written. A dead one is revived by a registration newer than
    /// its death, a value is replaced by a registration newer than the value's own. Of several registrations of one
    /// installation in a batch the newest counts.
    ///
    /// - Returns: The rows as they are now, one an installation, in no particular order.
    public func upsertSeen(_ registrations: [PushRegistration]) async throws(PostgresError) -> [PushInstall] {
        let newest = Dictionary(grouping: registrations, by: \.installationKey).values
            .compactMap { $0.max { $0.seenAt < $1.seenAt } }
        guard !newest.isEmpty else { return [] }
        var installs = try installs(await db.query(Self.upsertQuery(newest)))
        // A row that somebody else inserted after this statement began, and that needed no write, shows only to a
        // new snapshot.
        let missing = Set(newest.map(\.installationKey)).subtracting(installs.map(\.installationKey))
        if !missing.isEmpty { installs += try await find(installationKeys: Array(missing)) }
        return installs
    }

    private static func upsertQuery(_ registrations: [PushRegistration]) -> PostgresQuery {
        """
        WITH seen AS (
            SELECT * FROM unnest(\(registrations.map(\.installationKey)), \(registrations.map(\.kind.rawValue)),
                                 \(registrations.map(\.valueSealed)), \(registrations.map(\.valueHash)),
                                 \(registrations.map(\.seenAt)), \(registrations.map(\.platform)),
                                 \(registrations.map(\.locale)), \(registrations.map(\.appVersion)))
                AS s (key, kind, sealed, hash, seen_at, platform, locale, app_version)
        ), written AS (
            INSERT INTO push_installs AS p (installation_key, kind, value_sealed, value_hash, registered_at,
                                            last_seen_at, platform, locale, app_version)
            SELECT key, kind, sealed, hash, seen_at, seen_at, platform, locale, app_version FROM seen ORDER BY key
            ON CONFLICT (installation_key) DO UPDATE
            SET kind = EXCLUDED.kind, value_sealed = EXCLUDED.value_sealed, value_hash = EXCLUDED.value_hash,
                generation = p.generation + (p.value_hash <> EXCLUDED.value_hash)::integer,
                registered_at = CASE WHEN p.value_hash = EXCLUDED.value_hash AND p.state = 'active'
                                     THEN p.registered_at ELSE EXCLUDED.registered_at END,
                last_seen_at = greatest(p.last_seen_at, EXCLUDED.last_seen_at),
                platform = coalesce(EXCLUDED.platform, p.platform), locale = coalesce(EXCLUDED.locale, p.locale),
                app_version = coalesce(EXCLUDED.app_version, p.app_version),
                state = 'active', invalid_at = NULL, invalid_code = NULL
            WHERE (p.invalid_at IS NULL OR p.invalid_at < EXCLUDED.last_seen_at)
              AND (p.value_hash = EXCLUDED.value_hash OR p.registered_at <= EXCLUDED.registered_at)
              AND (p.value_hash <> EXCLUDED.value_hash OR p.state = 'invalid'
                   OR p.last_seen_at < EXCLUDED.last_seen_at - interval '1 day'
                   OR EXCLUDED.platform <> coalesce(p.platform, '') OR EXCLUDED.locale <> coalesce(p.locale, '')
                   OR EXCLUDED.app_version <> coalesce(p.app_version, ''))
            RETURNING *
        )
        SELECT * FROM written
        UNION ALL
        SELECT p.* FROM push_installs p JOIN seen ON seen.key = p.installation_key
        WHERE NOT EXISTS (SELECT FROM written WHERE written.id = p.id)
        """
    }

    /// Binds an installation to a user, whoever had it before.
    ///
    /// The first binding keeps the generation, so that the push that is just under way still arrives; passing from
    /// one user to another raises it, so that what was meant for the former user no longer does.
    ///
    /// - Returns: Whether the installation is known.
    public func bind(installationKey: [UInt8], userID: UUID) async throws(PostgresError) -> Bool {
        try await db.execute(
            """
            UPDATE push_installs
            SET user_id = \(userID), generation = generation + (user_id <> \(userID) AND user_id IS NOT NULL)::integer
            WHERE installation_key = \(installationKey)
            """) == 1
    }

    /// Makes an installation the user's if it is unknown or nobody's; one that is somebody else's is left alone.
    ///
    /// For a token that only comes along with something else, such as an image job: whoever knows an installation's id shall
    /// neither be able to push to the phone of the user it belongs to, nor to put another token in the place of that user's.
    /// Nor does such a token say how old it is, so that of a known installation the value stays as it was registered.
    ///
    /// - Returns: Whether it is the user's now.
    @discardableResult
    public func claim(_ registration: PushRegistration, userID: UUID) async throws(PostgresError) -> Bool {
        try await db.execute(
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
            WHERE p.user_id IS NULL OR p.user_id = EXCLUDED.user_id
            """) == 1
    }

    /// Takes an installation from a user who logs out, token and all, unless it is already somebody else's.
    ///
    /// The row is deleted, because there is no reason to keep the token of nobody; the next login registers it again.
    /// Belongs in the transaction that revoked the sign-in that ends, and only if there was something to revoke: a newer
    /// sign-in of the same user has revoked the older ones, whose late logout must leave the installation to it.
    ///
    /// - Returns: Whether it was the user's, and was taken.
    public func unbind(installationKey: [UInt8], userID: UUID) async throws(PostgresError) -> Bool {
        try await db.execute(
            "DELETE FROM push_installs WHERE installation_key = \(installationKey) AND user_id = \(userID)") == 1
    }

    /// Marks installations dead, each only if it is still in the generation that was sent to.
    ///
    /// - Returns: The ids that this call marked.
    @discardableResult
    public func markDead(_ dead: [DeadInstall]) async throws(PostgresError) -> Set<UUID> {
        guard !dead.isEmpty else { return [] }
        let rows = try await db.query(
            """
            WITH dead AS (
                SELECT DISTINCT ON (id) id AS dead_id, generation AS dead_generation, code
                FROM unnest(\(dead.map(\.id)), \(dead.map(\.generation)), \(dead.map(\.code)))
                    AS d (id, generation, code)
                ORDER BY id, generation DESC
            )
            UPDATE push_installs SET state = 'invalid', invalid_at = now(), invalid_code = dead.code
            FROM dead WHERE id = dead_id AND generation = dead_generation AND state = 'active'
            RETURNING id
            """)
        return Set(try rows.map { row throws(PostgresError) in try row.decode("id", as: UUID.self) })
    }

    func installs(_ rows: PostgresRows) throws(PostgresError) -> [PushInstall] {
        try rows.map { row throws(PostgresError) in try PushInstall(row: row) }
    }
}
