public import FoundationEssentials
public import PostgresClient
public import WireFormat

/// Reads and writes `push_presence`: which installation shows which conversation.
///
/// A push about a conversation is left out on an installation that shows it; the notifier looks when it takes the delivery.
public struct PresenceRepository: Sendable {
    /// How long an installation is believed to show what it said it shows.
    public static let lease: Duration = .seconds(45)
    /// Leases that ended longer ago than this are deleted.
    private static let remains: Duration = .seconds(600)

    let db: any PostgresQueryable

    /// Works on a client or inside a transaction.
    public init(_ db: some PostgresQueryable) {
        self.db = db
    }

    /// Notes that an installation shows a conversation now, for the time of ``lease``.
    ///
    /// - Returns: Until when; nil when the user is not in such a conversation.
    public func show(_ name: TopicName, on installationKey: [UInt8], userID: UUID) async throws(PostgresError) -> Date? {
        let rows = try await db.query(
            """
            INSERT INTO push_presence (installation_key, user_id, topic_id, lease_until)
            SELECT \(installationKey), m.user_id, t.id, now() + make_interval(secs => \(Self.lease.inSeconds))
            FROM topics t JOIN topic_members m ON m.topic_id = t.id AND m.user_id = \(userID)
            WHERE t.name = \(name.text)
            ON CONFLICT (installation_key) DO UPDATE
            SET user_id = EXCLUDED.user_id, topic_id = EXCLUDED.topic_id, lease_until = EXCLUDED.lease_until
            RETURNING lease_until
            """)
        return try rows.first.map { row throws(PostgresError) in try row.decode("lease_until") }
    }

    /// Notes that an installation shows nothing any more, unless somebody else uses it by now.
    ///
    /// - Returns: Whether it did show something.
    @discardableResult
    public func hide(installationKey: [UInt8], userID: UUID) async throws(PostgresError) -> Bool {
        try await db.execute(
            "DELETE FROM push_presence WHERE installation_key = \(installationKey) AND user_id = \(userID)") == 1
    }

    /// Deletes leases that ended a while ago, at most `limit`.
    ///
    /// Reads the whole table, which is small for being swept: no index on `lease_until` keeps a renewal a heap-only update.
    ///
    /// - Returns: How many were deleted.
    @discardableResult
    public func deleteExpired(limit: Int) async throws(PostgresError) -> Int {
        try await db.execute(
            """
            DELETE FROM push_presence WHERE installation_key IN (
                SELECT installation_key FROM push_presence
                WHERE lease_until < now() - make_interval(secs => \(Self.remains.inSeconds))
                LIMIT \(limit) FOR UPDATE SKIP LOCKED)
            """)
    }
}
