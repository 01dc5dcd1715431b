public import FoundationEssentials
public import PostgresClient

extension PushInstallRepository {
    /// The slices of a day's expiry: one a minute.
    public static let expirySlices = 24 * 60

    /// Expires the installations of one slice of the ids. Marks those as stale that have not registered for ``PushInstallLimits/staleAge``.
    /// Deletes those without a user for ``PushInstallLimits/unboundAge``, dead for ``PushInstallLimits/invalidAge``, or not seen for
    /// ``PushInstallLimits/idleAge``.
    ///
    /// The ids are random, so that the slices are of equal size. A slice a minute checks every installation once a day. This needs no index
    /// on the time of registration, which would slow down every registration, and no stored position.
    public func expireInstallations(
        slice: Int, of slices: Int = expirySlices
    ) async throws(PostgresError) -> (deleted: Int, stale: Int) {
        let (first, last) = UUID.bounds(ofSlice: slice, of: slices)
        let deleted = try await db.execute(
            """
            DELETE FROM push_installs
            WHERE id BETWEEN \(first) AND \(last) AND (
                (user_id IS NULL AND last_seen_at < now() - make_interval(secs => \(PushInstallLimits.unboundAge / .seconds(1))))
                OR invalid_at < now() - make_interval(secs => \(PushInstallLimits.invalidAge / .seconds(1)))
                OR last_seen_at < now() - make_interval(secs => \(PushInstallLimits.idleAge / .seconds(1))))
            """)
        let stale = try await db.execute(
            """
            UPDATE push_installs SET state = 'stale'
            WHERE id BETWEEN \(first) AND \(last) AND state = 'active'
              AND last_seen_at < now() - make_interval(secs => \(PushInstallLimits.staleAge / .seconds(1)))
            """)
        return (deleted, stale)
    }

    /// Deletes at most `limit` audit entries that are older than `age`.
    @discardableResult
    public func deleteAudit(olderThan age: Duration, limit: Int) async throws(PostgresError) -> Int {
        try await db.execute(
            """
            DELETE FROM push_install_audit WHERE id IN (SELECT id FROM push_install_audit ORDER BY id LIMIT \(limit))
                AND at < now() - make_interval(secs => \(age / .seconds(1)))
            """)
    }

    /// Deletes all installations of a user, their audit entries, and claims of them or by the user. Call in a transaction.
    ///
    /// - Returns: The ids of the installations, at most ``PushInstallLimits/maxPerUser``.
    public func erase(userID: UUID) async throws(PostgresError) -> [UUID] {
        let rows = try await db.query("DELETE FROM push_installs WHERE user_id = \(userID) RETURNING id")
        try await db.execute("DELETE FROM install_hand_overs WHERE user_id = \(userID) OR former_user_id = \(userID)")
        try await db.execute("DELETE FROM push_install_audit WHERE old_user_id = \(userID) OR new_user_id = \(userID)")
        return try rows.column("id")
    }
}
