public import FoundationEssentials
public import PostgresClient
public import WireFormat

/// Reads and writes `push_presence`: which installation shows which conversation.
///
/// A push about a conversation is suppressed on an installation that shows it; the notifier checks when it claims the delivery.
public struct PresenceRepository: Sendable {
    /// The time for which a report that an installation shows a conversation is valid.
    public static let lease: Duration = .seconds(45)
    /// The time after which an ended lease is deleted.
    private static let remains: Duration = .seconds(600)

    let db: any PostgresQueryable

    /// Works on a client or inside a transaction.
    public init(_ db: some PostgresQueryable) {
        self.db = db
    }

    /// Records that an installation shows a conversation, for the time of ``lease``.
    ///
    /// - Returns: The end of the lease; nil when the user is not a member of such a conversation.
    public func show(_ name: TopicName, on installationKey: [UInt8], userID: UUID) async throws(PostgresError) -> Date? {
        let rows = try await db.query(
            """
            INSERT INTO push_presence (installation_key, user_id, topic_id, lease_until)
            SELECT \(installationKey), m.user_id, t.id, now() + make_interval(secs => \(Self.lease / .seconds(1)))
            FROM topics t JOIN topic_members m ON m.topic_id = t.id AND m.user_id = \(userID)
            WHERE t.name = \(name.text)
            ON CONFLICT (installation_key) DO UPDATE
            SET user_id = EXCLUDED.user_id, topic_id = EXCLUDED.topic_id, lease_until = EXCLUDED.lease_until
            RETURNING lease_until
            """)
        return try rows.first?.decode("lease_until")
    }

    /// Records that an installation no longer shows a conversation, unless another user has taken it over.
    ///
    /// - Returns: Whether it showed one.
    @discardableResult
    public func hide(installationKey: [UInt8], userID: UUID) async throws(PostgresError) -> Bool {
        try await db.execute(
            "DELETE FROM push_presence WHERE installation_key = \(installationKey) AND user_id = \(userID)") == 1
    }

    /// Deletes at most `limit` leases that ended 10 minutes ago or earlier.
    ///
    /// Reads the whole table, which the sweeper keeps small. Without an index on `lease_until`, a renewal is a heap-only update.
    ///
    /// - Returns: The number of deleted leases.
    @discardableResult
    public func deleteExpired(limit: Int) async throws(PostgresError) -> Int {
        try await db.execute(
            """
            DELETE FROM push_presence WHERE installation_key IN (
                SELECT installation_key FROM push_presence
                WHERE lease_until < now() - make_interval(secs => \(Self.remains / .seconds(1)))
                LIMIT \(limit) FOR UPDATE SKIP LOCKED)
            """)
    }
}
