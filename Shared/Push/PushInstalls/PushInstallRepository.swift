internal import FoundationEssentials
public import PostgresClient

/// Reads and writes `push_installs`.
///
/// An installation has one row with a user at most. A value that an upload delivers is not proven to belong to that user, so it gets
/// a row without a user, one for each value, which a redeemed sign-in binds to its user. A claim of an installation that another user
/// has waits in `install_hand_overs` for its proof.
public struct PushInstallRepository: Sendable {
    let db: any PostgresQueryable

    /// Works on a client or inside a transaction.
    public init(_ db: some PostgresQueryable) {
        self.db = db
    }

    /// Registers the value that an upload delivered, without binding it to a user. Knowing an installation's id must not allow anyone
    /// to stop the pushes to its user, so the user's row is used only if it has the same value.
    ///
    /// An unchanged installation that was seen within ``PushInstallLimits/seenInterval`` is not written. A registration revives a dead
    /// or suspect installation if it is newer than that state. Call in the transaction that inserts the session: the row is locked
    /// against ``deleteUnneeded(ids:)`` until the session refers to it.
    ///
    /// Each of the two rows is looked up in its partial index: with one condition for both, the server reads all installations.
    public func registerUnbound(_ registration: PushRegistration) async throws(PostgresError) -> PushInstall {
        let rows = try await db.query(
            """
            WITH seen AS (
                SELECT \(registration.installationKey)::bytea AS installation_key, \(registration.valueHash)::bytea AS value_hash,
                       \(registration.seenAt)::timestamptz AS seen_at
            ), known AS (
                SELECT p.* FROM seen JOIN push_installs p ON p.value_hash = seen.value_hash AND p.id = coalesce(
                    (SELECT b.id FROM push_installs b JOIN seen USING (installation_key, value_hash) WHERE b.user_id IS NOT NULL),
                    (SELECT u.id FROM push_installs u JOIN seen USING (value_hash) WHERE u.user_id IS NULL))
                WHERE p.user_id IS NULL OR p.installation_key = seen.installation_key
                FOR KEY SHARE OF p
            ), confirmed AS (
                UPDATE push_installs p
                SET last_seen_at = greatest(p.last_seen_at, seen_at),
                    registered_at = CASE WHEN p.state IN ('active', 'stale') THEN p.registered_at ELSE seen_at END,
                    state = 'active', suspect_until = NULL, invalid_at = NULL, invalid_code = NULL
                FROM known, seen
                WHERE p.id = known.id
                  AND (coalesce(p.invalid_at, p.suspect_until - \(unescaped: Self.suspectTime)) < seen_at) IS NOT FALSE
                  AND (p.state <> 'active' OR p.last_seen_at < seen_at - \(unescaped: Self.seenInterval))
                RETURNING p.*
            ), made AS (
                INSERT INTO push_installs AS p (installation_key, kind, value_sealed, value_hash, registered_at, last_seen_at,
                                                platform, locale, app_version)
                SELECT installation_key, \(registration.kind.rawValue), \(registration.valueSealed), value_hash, seen_at, seen_at,
                       \(registration.platform), \(registration.locale), \(registration.appVersion)
                FROM seen WHERE NOT EXISTS (SELECT FROM known)
                ON CONFLICT (value_hash) WHERE user_id IS NULL
                DO UPDATE SET last_seen_at = greatest(p.last_seen_at, EXCLUDED.last_seen_at)
                RETURNING p.*
            )
            SELECT * FROM made UNION ALL SELECT * FROM confirmed
            UNION ALL SELECT * FROM known WHERE NOT EXISTS (SELECT FROM confirmed)
            """)
        return try PushInstall(row: rows.required())
    }

    /// ``PushInstallLimits/seenInterval`` as SQL.
    private static let seenInterval = "interval '\(Int(PushInstallLimits.seenInterval / .seconds(1))) seconds'"
    /// ``PushInstallLimits/suspectTime`` as SQL.
    static let suspectTime = "interval '\(Int(PushInstallLimits.suspectTime / .seconds(1))) seconds'"
}
