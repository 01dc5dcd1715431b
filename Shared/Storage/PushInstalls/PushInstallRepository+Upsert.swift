internal import FoundationEssentials
internal import PostgresClient

extension PushInstallRepository {
    /// ``PushInstallLimits/seenInterval`` as SQL.
    static let seenInterval = "interval '\(Int(PushInstallLimits.seenInterval / .seconds(1))) seconds'"
    /// ``PushInstallLimits/suspectTime`` as SQL.
    static let suspectTime = "interval '\(Int(PushInstallLimits.suspectTime / .seconds(1))) seconds'"

    /// Writes registrations, one per installation, and binds them if a user is given; rows that need no write are not locked.
    /// Returns the current rows; `is_written` is whether this query wrote them.
    static func upsertQuery(_ registrations: [PushRegistration], userID: UUID?) -> PostgresQuery {
        """
        WITH seen AS (
            SELECT *, \(userID)::uuid AS user_id
            FROM unnest(\(registrations.map(\.provenUserID)),
                        \(registrations.map(\.installationKey)), \(registrations.map(\.kind.rawValue)),
                        \(registrations.map(\.valueSealed)), \(registrations.map(\.valueHash)),
                        \(registrations.map(\.seenAt)), \(registrations.map(\.platform)),
                        \(registrations.map(\.locale)), \(registrations.map(\.appVersion)))
                AS s (proven_user_id, installation_key, kind, value_sealed, value_hash, last_seen_at, platform, locale, app_version)
        ), written AS (
            INSERT INTO push_installs AS p (installation_key, kind, value_sealed, value_hash, registered_at,
                                            last_seen_at, platform, locale, app_version, user_id)
            SELECT installation_key, kind, value_sealed, value_hash, last_seen_at, last_seen_at, platform, locale,
                   app_version, user_id
            FROM seen WHERE NOT EXISTS (
                SELECT FROM push_installs k WHERE k.installation_key = seen.installation_key
                    AND (\(unescaped: needsWrite(old: "k", new: "seen"))) IS NOT TRUE)
            ORDER BY installation_key
            ON CONFLICT (installation_key) DO UPDATE
            SET kind = EXCLUDED.kind, value_sealed = EXCLUDED.value_sealed, value_hash = EXCLUDED.value_hash,
                user_id = coalesce(EXCLUDED.user_id, p.user_id),
                generation = p.generation
                    + (p.value_hash <> EXCLUDED.value_hash OR coalesce(p.user_id <> EXCLUDED.user_id, false))::integer,
                registered_at = CASE WHEN p.value_hash = EXCLUDED.value_hash AND p.state IN ('active', 'stale')
                                     THEN p.registered_at ELSE EXCLUDED.registered_at END,
                last_seen_at = greatest(p.last_seen_at, EXCLUDED.last_seen_at),
                platform = coalesce(EXCLUDED.platform, p.platform), locale = coalesce(EXCLUDED.locale, p.locale),
                app_version = coalesce(EXCLUDED.app_version, p.app_version),
                state = 'active', suspect_until = NULL, invalid_at = NULL, invalid_code = NULL
            WHERE (\(unescaped: needsWrite(old: "p", new: "EXCLUDED"))) AND \(unescaped: isNoStranger)
            RETURNING *
        )
        SELECT *, true AS is_written FROM written
        UNION ALL
        SELECT p.*, false FROM push_installs p JOIN seen ON seen.installation_key = p.installation_key
        WHERE NOT EXISTS (SELECT FROM written WHERE written.id = p.id)
        """
    }

    /// SQL condition: the registration does not replace a user's value without proof of that user. Knowing an installation's id must
    /// not allow anyone to stop pushes to the phone.
    private static let isNoStranger = """
        (EXCLUDED.user_id IS NOT NULL OR p.user_id IS NULL OR p.value_hash = EXCLUDED.value_hash
         OR EXISTS (SELECT FROM seen s WHERE s.installation_key = p.installation_key AND s.proven_user_id = p.user_id))
        """

    /// SQL condition: the registration is newer than the row, and changes it.
    private static func needsWrite(old: String, new: String) -> String {
        """
        (\(old).value_hash <> \(new).value_hash
         OR (coalesce(\(old).invalid_at, \(old).suspect_until - \(suspectTime)) < \(new).last_seen_at) IS NOT FALSE)
        AND (\(old).value_hash = \(new).value_hash OR \(old).registered_at <= \(new).last_seen_at)
        AND (\(old).value_hash <> \(new).value_hash OR \(old).state <> 'active'
             OR \(old).last_seen_at < \(new).last_seen_at - \(seenInterval)
             OR (\(new).user_id IS NOT NULL AND \(old).user_id IS DISTINCT FROM \(new).user_id)
             OR \(new).platform <> coalesce(\(old).platform, '') OR \(new).locale <> coalesce(\(old).locale, '')
             OR \(new).app_version <> coalesce(\(old).app_version, ''))
        """
    }
}
