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
    ///   - quota: The limits on invitations and their pushes.
    /// - Returns: `done` when the user is a member; `invited` when the owner adds a user with whom they share no other topic.
    ///   `forbidden` when the actor is a member but not the owner, is a user without an invitation, or is the owner and the user has
    ///   left or declined. `quotaReached` when the owner has made too many invitations.
    public func add(
        _ userID: UUID, to name: TopicName, by actor: UUID, mayCreate: Bool = true, quota: TopicInvitationQuota = TopicInvitationQuota()
    ) async throws(PostgresError) -> TopicMemberChange {
        for _ in 0..<Self.maxAttempts {
            if userID == actor, mayCreate, try await make(name, owner: actor) { return .done(changed: true) }
            guard let topic = try await lock(name) else {
                guard userID == actor, mayCreate else { return .notFound }
                // Either the topic was just deleted, or none was created because the actor owns too many.
                if try await ownedCount(actor) >= TopicLimits.maxOwned { return .limitReached }
                continue
            }
            if try await isMember(userID, of: topic.id) {
                return try await isMember(actor, of: topic.id) ? .done(changed: false) : .notFound
            }
            if let refusal = try await refusal(of: userID, in: topic, by: actor) { return refusal }
            if userID != actor, try await !share(actor, userID, besides: topic.id) {
                return try await invite(userID, to: topic, by: actor, quota)
            }
            try await enter(userID, topic)
            return .done(changed: true)
        }
        return .notFound
    }

    /// Returns why a user who is not a member can neither be added nor invited; nil when there is no reason.
    private func refusal(of userID: UUID, in topic: Topic, by actor: UUID) async throws(PostgresError) -> TopicMemberChange? {
        let leavers = try await db.query(
            "SELECT may_return FROM topic_leavers WHERE topic_id = \(topic.id) AND user_id = \(userID)")
        let mayReturn = try leavers.first?.decode("may_return", as: Bool.self)
        if userID == actor {
            if mayReturn != true, try await !isInvited(userID, to: topic.id) { return .forbidden }
        } else {
            guard try await isMember(actor, of: topic.id) else { return .notFound }
            guard topic.ownerID == actor, mayReturn == nil else { return .forbidden }
        }
        return topic.memberCount < TopicLimits.maxMembers ? nil : .limitReached
    }

    func enter(_ userID: UUID, _ topic: Topic) async throws(PostgresError) {
        // Items from before do not count as unread for a new member.
        try await db.execute(
            """
            INSERT INTO topic_members (topic_id, user_id, read_seq)
            SELECT id, \(userID), item_seq FROM topics WHERE id = \(topic.id)
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
            try await db.execute(
                "UPDATE topics SET member_count = member_count - 1, owner_id = \(nextOwner) WHERE id = \(topic.id)")
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

    /// Returns the next owner of a topic: the member of longest standing who is a user; nil when none is left.
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
