internal import Accounts
internal import FoundationEssentials
public import PostgresClient
internal import WireFormat

/// Reads and writes `topic_invitations`, and `topic_invitation_log` for the quotas. The topic is locked before any of their rows
/// changes, except expired ones.
///
/// All statements run, and write the same, whether the invited id belongs to an account or not: neither the response nor its time discloses
/// whether the account exists. The invited user's own limits are not disclosed either: above them, the invitation is made, counted and
/// answered as usual, and can be accepted, but gets no push. An invitation of a user who blocks the inviter is treated the same way.
extension TopicRepository {
    /// Returns who invited a user into a topic, if the invitation can be accepted.
    func inviter(of userID: UUID, to topicID: UUID) async throws(PostgresError) -> UUID? {
        let rows = try await db.query(
            "SELECT inviter_id FROM topic_invitations WHERE topic_id = \(topicID) AND user_id = \(userID) AND expires_at > now()")
        return try rows.first?.decode("inviter_id")
    }

    /// Invites a user who is not a member into a locked topic. An open invitation stays as it is.
    ///
    /// - Returns: `invited`, with the invitation when this call made it; `quotaReached` above ``TopicInvitationQuota/madePerDay``.
    func invite(
        _ userID: UUID, to topic: Topic, by inviterID: UUID, _ quota: TopicInvitationQuota
    ) async throws(PostgresError) -> TopicMemberChange {
        if try await inviter(of: userID, to: topic.id) != nil { return .invited(nil) }
        if let wait = try await lockQuota(of: inviterID, quota) { return .quotaReached(wait: wait) }
        let isAnnounced = try await lockInbox(of: userID, from: inviterID, quota)
        // A conflicting row has expired, and the sweeper has not deleted it yet.
        try await db.execute(
            """
            WITH logged AS (
                INSERT INTO topic_invitation_log (inviter_id, user_id, is_announced)
                SELECT \(inviterID), CASE WHEN \(unescaped: ErasedAccounts.contains("given.id")) THEN gen_random_uuid() ELSE id END,
                       \(isAnnounced)
                FROM (SELECT \(userID)::uuid AS id) given
            )
            INSERT INTO topic_invitations (topic_id, user_id, inviter_id, is_announced, expires_at)
            SELECT \(topic.id), id, \(inviterID), \(isAnnounced),
                   now() + make_interval(secs => \(TopicInvitation.lifetime / .seconds(1)))
            FROM (SELECT \(userID)::uuid AS id) given WHERE NOT \(unescaped: ErasedAccounts.contains("given.id"))
            ON CONFLICT (topic_id, user_id) DO UPDATE
            SET inviter_id = EXCLUDED.inviter_id, is_announced = EXCLUDED.is_announced, created_at = EXCLUDED.created_at,
                expires_at = EXCLUDED.expires_at
            """)
        return .invited(TopicInvitation(topicID: topic.id, topic: topic.name, userID: userID, isAnnounced: isAnnounced))
    }

    /// Ends an invitation into a locked topic: it was accepted, declined or withdrawn.
    ///
    /// - Returns: Whether it was open; of two concurrent calls, one gets true.
    @discardableResult
    func endInvitation(of userID: UUID, to topicID: UUID) async throws(PostgresError) -> Bool {
        let rows = try await db.query(
            """
            DELETE FROM topic_invitations WHERE topic_id = \(topicID) AND user_id = \(userID)
            RETURNING expires_at > now() AS was_open
            """)
        return try rows.first?.decode("was_open") ?? false
    }

    /// Deletes expired invitations and log entries that no longer count, at most `limit` of each.
    ///
    /// - Returns: The larger of the two numbers of deleted rows.
    public func deleteExpiredInvitations(limit: Int) async throws(PostgresError) -> Int {
        try await db.query(
            """
            WITH expired AS (
                DELETE FROM topic_invitations WHERE (topic_id, user_id) IN (
                    SELECT topic_id, user_id FROM topic_invitations WHERE expires_at <= now()
                    ORDER BY expires_at LIMIT \(limit) FOR UPDATE SKIP LOCKED)
                RETURNING topic_id
            ), counted AS (
                DELETE FROM topic_invitation_log WHERE id IN (
                    SELECT id FROM topic_invitation_log WHERE created_at <= now() - interval '1 day'
                    ORDER BY created_at LIMIT \(limit) FOR UPDATE SKIP LOCKED)
                RETURNING id
            )
            SELECT greatest((SELECT count(*) FROM expired), (SELECT count(*) FROM counted)) AS deleted
            """
        ).first?.decode("deleted") ?? 0
    }

    /// Returns the time until an account may invite or add a user again; nil when it may now. Blocks other such calls for the account until
    /// the transaction ends, so that each of several concurrent ones counts those before it.
    func lockQuota(of inviterID: UUID, _ quota: TopicInvitationQuota) async throws(PostgresError) -> Duration? {
        try await lockInvitations("by", inviterID)
        // Selects the newest entry at which the quota is used up: it must become a day old first.
        let rows = try await db.query(
            """
            SELECT extract(epoch FROM created_at + interval '1 day' - clock_timestamp())::float8 AS wait FROM topic_invitation_log
            WHERE inviter_id = \(inviterID) AND created_at > now() - interval '1 day'
            ORDER BY created_at DESC OFFSET \(quota.madePerDay - 1) LIMIT 1
            """)
        guard let row = rows.first else { return nil }
        return .seconds(max(1, try row.decode("wait", as: Double.self)))
    }

    /// Whether an invitation of this user may be pushed: within the user's limits, and not from a person the user blocks. Other
    /// invitations of the user wait until this transaction ends.
    private func lockInbox(
        of userID: UUID, from inviterID: UUID, _ quota: TopicInvitationQuota
    ) async throws(PostgresError) -> Bool {
        try await lockInvitations("to", userID)
        return try await db.query(
            """
            SELECT (SELECT count(*) < \(quota.openPerUser)
                           AND count(*) FILTER (WHERE inviter_id = \(inviterID)) < \(quota.openPerPair)
                    FROM topic_invitations WHERE user_id = \(userID) AND is_announced AND expires_at > now())
                AND (SELECT count(*) FROM topic_invitation_log
                     WHERE user_id = \(userID) AND is_announced AND created_at > now() - interval '1 day') < \(quota.pushedPerDay)
                AND NOT EXISTS (SELECT FROM user_blocks WHERE user_id = \(userID) AND blocked_id = \(inviterID))
                AND NOT \(unescaped: ErasedAccounts.contains("given.id"))
                AS has_room
            FROM (SELECT \(userID)::uuid AS id) given
            """
        ).first?.decode("has_room") ?? false
    }

    private func lockInvitations(_ side: String, _ userID: UUID) async throws(PostgresError) {
        let key = "topic_invitations:\(side):\(userID.wireString)"
        try await db.execute("SELECT pg_advisory_xact_lock(hashtextextended(\(key), 0))")
    }
}
