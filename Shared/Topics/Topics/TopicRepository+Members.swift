public import FoundationEssentials
public import PostgresClient
public import WireFormat

extension TopicRepository {
    /// Attempts to find a topic that is created and deleted between two statements.
    private static let maxAttempts = 3

    /// Adds the actor to a topic, which is created if none exists, or adds or invites another user.
    ///
    /// Call in a transaction: the topic is locked first.
    ///
    /// - Parameters:
    ///   - userID: The user who is to be a member; the id may belong to no account.
    ///   - actor: The user who makes the request; must have an account.
    ///   - mayCreate: Whether a topic that does not exist is created.
    ///   - quota: The limits on invitations and their pushes, and on additions.
    /// - Returns: `done` when the user is a member; `invited` when the owner adds a user who has not agreed to that.
    ///   `forbidden` when the actor is a member but not the owner, is a user without an invitation, or is the owner and the user has
    ///   left or declined. `quotaReached` when the owner has invited or added too many users.
    public func add(
        _ userID: UUID, to name: TopicName, by actor: UUID, mayCreate: Bool = true, quota: TopicInvitationQuota = TopicInvitationQuota()
    ) async throws(PostgresError) -> TopicMemberChange {
        for _ in 0..<Self.maxAttempts {
            if userID == actor, mayCreate, try await make(name, owner: actor) { return .done(changed: true) }
            if let topic = try await lock(name) {
                return userID == actor
                    ? try await enter(topic, userID) : try await add(userID, to: topic, by: actor, quota)
            }
            guard userID == actor, mayCreate else { return .notFound }
            // Either the topic was just deleted, or it was not created because the actor owns too many.
            if try await ownedCount(actor) >= TopicLimits.maxOwned { return .limitReached }
        }
        return .notFound
    }

    /// Makes a user who is invited, or has left and was not removed since, a member of a locked topic.
    private func enter(_ topic: Topic, _ userID: UUID) async throws(PostgresError) -> TopicMemberChange {
        if try await isMember(userID, of: topic.id) { return .done(changed: false) }
        let inviterID = try await inviter(of: userID, to: topic.id)
        if inviterID == nil, try await mayReturn(userID, to: topic.id) != true { return .forbidden }
        guard topic.memberCount < TopicLimits.maxMembers else { return .limitReached }
        // An invitation by a former owner, or a return without an invitation, is no consent to additions by the present owner.
        try await insert(userID, into: topic, isAccepted: inviterID.map { $0 == topic.ownerID } ?? false)
        return .done(changed: true)
    }

    /// Adds or invites another user into a locked topic.
    private func add(
        _ userID: UUID, to topic: Topic, by actor: UUID, _ quota: TopicInvitationQuota
    ) async throws(PostgresError) -> TopicMemberChange {
        guard try await isMember(actor, of: topic.id) else { return .notFound }
        // Checked before the user is looked up: a member who is not the owner must not learn from this who is a member.
        guard topic.ownerID == actor else { return .forbidden }
        if try await isMember(userID, of: topic.id) { return .done(changed: false) }
        guard try await mayReturn(userID, to: topic.id) == nil else { return .forbidden }
        guard topic.memberCount < TopicLimits.maxMembers else { return .limitReached }
        guard try await isAllowed(actor, by: userID) else { return try await invite(userID, to: topic, by: actor, quota) }
        if let wait = try await lockQuota(of: actor, quota) { return .quotaReached(wait: wait) }
        try await db.execute(
            "INSERT INTO topic_invitation_log (inviter_id, user_id, is_announced) VALUES (\(actor), \(userID), false)")
        try await insert(userID, into: topic)
        return .done(changed: true)
    }

    /// Returns whether a user who has left or declined may enter by themselves; nil if the user has done neither.
    private func mayReturn(_ userID: UUID, to topicID: UUID) async throws(PostgresError) -> Bool? {
        let rows = try await db.query("SELECT may_return FROM topic_leavers WHERE topic_id = \(topicID) AND user_id = \(userID)")
        return try rows.first?.decode("may_return")
    }

    /// Makes a user a member of a locked topic.
    func insert(_ userID: UUID, into topic: Topic, isAccepted: Bool = false) async throws(PostgresError) {
        // Items from before do not count as unread for a new member.
        try await db.execute(
            """
            INSERT INTO topic_members (topic_id, user_id, read_seq, is_accepted)
            SELECT id, \(userID), item_seq, \(isAccepted) FROM topics WHERE id = \(topic.id)
            """)
        try await db.execute("UPDATE topics SET member_count = member_count + 1 WHERE id = \(topic.id)")
        try await db.execute("DELETE FROM topic_leavers WHERE topic_id = \(topic.id) AND user_id = \(userID)")
        try await endInvitation(of: userID, to: topic.id)
    }

    /// Removes a member from a topic, which is deleted with its last member; or ends an invitation: the user declines it, or the
    /// owner withdraws it.
    ///
    /// Call in a transaction: the topic is locked first.
    ///
    /// - Returns: `forbidden` when the actor is a member but not the owner, and `userID` is another user; `notFound` when the actor is
    ///   neither a member nor invited.
    public func remove(_ userID: UUID, from name: TopicName, by actor: UUID) async throws(PostgresError) -> TopicMemberChange {
        guard let topic = try await lock(name) else { return .notFound }
        guard try await isMember(actor, of: topic.id) else {
            guard userID == actor, try await endInvitation(of: userID, to: topic.id) else { return .notFound }
            try await remember(leaver: userID, of: topic.id)
            return .done(changed: true)
        }
        guard userID == actor || topic.ownerID == actor else { return .forbidden }
        let removed = try await db.execute(
            "DELETE FROM topic_members WHERE topic_id = \(topic.id) AND user_id = \(userID)")
        guard removed == 1 else {
            let wasInvited = try await endInvitation(of: userID, to: topic.id)
            // A user who left or declined before may not return either.
            try await db.execute(
                "UPDATE topic_leavers SET may_return = false WHERE topic_id = \(topic.id) AND user_id = \(userID)")
            return .done(changed: wasInvited)
        }
        if userID == actor { try await remember(leaver: userID, of: topic.id) }
        guard userID == topic.ownerID else {
            try await db.execute("UPDATE topics SET member_count = member_count - 1 WHERE id = \(topic.id)")
            return .done(changed: true)
        }
        if let nextOwner = try await nextOwner(of: topic.id) {
            // The time of the statement, and not of the transaction, which may have begun before others joined under the former owner.
            try await db.execute(
                """
                UPDATE topics SET member_count = member_count - 1, owner_id = \(nextOwner), owned_since = clock_timestamp()
                WHERE id = \(topic.id)
                """)
        } else {
            try await db.execute("DELETE FROM topics WHERE id = \(topic.id)")
        }
        return .done(changed: true)
    }

    /// Records that a user has left or declined: no other user can add them again.
    private func remember(leaver userID: UUID, of topicID: UUID) async throws(PostgresError) {
        try await db.execute(
            "INSERT INTO topic_leavers (topic_id, user_id) VALUES (\(topicID), \(userID)) ON CONFLICT DO NOTHING")
    }

    /// Returns the next owner of a topic: the member of longest standing who is a user; nil when no such member is left.
    private func nextOwner(of topicID: UUID) async throws(PostgresError) -> UUID? {
        let rows = try await db.query(
            """
            SELECT m.user_id FROM topic_members m JOIN users u ON u.id = m.user_id
            WHERE m.topic_id = \(topicID) AND u.state = 'active' ORDER BY m.joined_at, m.user_id LIMIT 1
            """)
        return try rows.first?.decode("user_id")
    }

    /// Creates a topic with its first member; false when it exists, or the owner has too many topics.
    private func make(_ name: TopicName, owner: UUID) async throws(PostgresError) -> Bool {
        try await db.execute(
            """
            WITH made AS (
                INSERT INTO topics (name, owner_id) SELECT \(name.text), \(owner)
                WHERE (SELECT count(*) FROM topics WHERE owner_id = \(owner)) < \(TopicLimits.maxOwned)
                ON CONFLICT (name) DO NOTHING
                RETURNING id
            )
            INSERT INTO topic_members (topic_id, user_id) SELECT id, \(owner) FROM made
            """) == 1
    }

    private func ownedCount(_ userID: UUID) async throws(PostgresError) -> Int {
        try await db.query("SELECT count(*) AS owned FROM topics WHERE owner_id = \(userID)").first?.decode("owned") ?? 0
    }
}
