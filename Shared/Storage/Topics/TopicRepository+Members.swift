public import FoundationEssentials
public import PostgresClient
public import WireFormat

extension TopicRepository {
    /// How often a name is looked at again that comes and goes between two statements.
    private static let looksMax = 3

    /// Enters a topic, which is made if there is none, or asks another user in.
    ///
    /// Belongs in a transaction: the topic is locked first.
    ///
    /// - Parameters:
    ///   - userID: The user who is to be a member; the id may belong to no account.
    ///   - actor: The user who asks for it; has to have an account.
    ///   - quota: How many invitations are made and pushed.
    /// - Returns: `done` when the user is a member; `invited` when the owner asks for a user with whom they share no other topic.
    ///   `forbidden` when a member who is not the owner asks, a user asks who is not invited, or the owner asks for a user who has left
    ///   or declined. `quotaReached` when the owner has made too many invitations.
    public func add(
        _ userID: UUID, to name: TopicName, by actor: UUID, quota: TopicInvitationQuota = TopicInvitationQuota()
    ) async throws(PostgresError) -> TopicMemberChange {
        for _ in 0..<Self.looksMax {
            if userID == actor, try await make(name, owner: actor) { return .done(changed: true) }
            guard let topic = try await lock(name) else {
                guard userID == actor else { return .notFound }
                // Either it went away just now, or none was made because there are too many.
                if try await ownedCount(actor) >= TopicLimits.ownedMax { return .limitReached }
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

    /// Why a user who is not in a topic neither enters it nor is asked in; nil when there is no reason.
    private func refusal(of userID: UUID, in topic: Topic, by actor: UUID) async throws(PostgresError) -> TopicMemberChange? {
        let leavers = try await db.query(
            "SELECT may_return FROM topic_leavers WHERE topic_id = \(topic.id) AND user_id = \(userID)")
        let mayReturn = try leavers.first.map { row throws(PostgresError) in try row.decode("may_return", as: Bool.self) }
        if userID == actor {
            if mayReturn != true, try await !isInvited(userID, to: topic.id) { return .forbidden }
        } else {
            guard try await isMember(actor, of: topic.id) else { return .notFound }
            guard topic.ownerID == actor, mayReturn == nil else { return .forbidden }
        }
        return topic.memberCount < TopicLimits.membersMax ? nil : .limitReached
    }

    private func enter(_ userID: UUID, _ topic: Topic) async throws(PostgresError) {
        // What was there before is not unread for a new member.
        try await db.execute(
            """
            INSERT INTO topic_members (topic_id, user_id, read_seq)
            SELECT id, \(userID), item_seq FROM topics WHERE id = \(topic.id)
            """)
        try await db.execute("UPDATE topics SET member_count = member_count + 1 WHERE id = \(topic.id)")
        try await db.execute("DELETE FROM topic_leavers WHERE topic_id = \(topic.id) AND user_id = \(userID)")
        try await endInvitation(of: userID, to: topic.id)
    }

    /// Takes a user out of a topic, which goes with its last member; or ends an invitation: the user declines it, or the owner
    /// withdraws it.
    ///
    /// Belongs in a transaction: the topic is locked first.
    ///
    /// - Returns: `forbidden` when a member who is not the owner asks for another user; `notFound` when a user asks who is neither a
    ///   member nor invited.
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
            // A user who left or declined before is not to come back either.
            try await db.execute(
                "UPDATE topic_leavers SET may_return = false WHERE topic_id = \(topic.id) AND user_id = \(userID)")
            return .done(changed: wasInvited)
        }
        if userID == actor { try await remember(leaver: userID, of: topic.id) }
        guard userID == topic.ownerID else {
            try await db.execute("UPDATE topics SET member_count = member_count - 1 WHERE id = \(topic.id)")
            return .done(changed: true)
        }
        if let heir = try await heir(of: topic.id) {
            try await db.execute(
                "UPDATE topics SET member_count = member_count - 1, owner_id = \(heir) WHERE id = \(topic.id)")
        } else {
            try await db.execute("DELETE FROM topics WHERE id = \(topic.id)")
        }
        return .done(changed: true)
    }

    /// Notes that a user has left or declined: no other user puts them back.
    private func remember(leaver userID: UUID, of topicID: UUID) async throws(PostgresError) {
        try await db.execute(
            "INSERT INTO topic_leavers (topic_id, user_id) VALUES (\(topicID), \(userID)) ON CONFLICT DO NOTHING")
    }

    /// Who owns a topic next: the member of longest standing who is a user; nil when none is left.
    private func heir(of topicID: UUID) async throws(PostgresError) -> UUID? {
        let rows = try await db.query(
            """
            SELECT m.user_id FROM topic_members m JOIN users u ON u.id = m.user_id
            WHERE m.topic_id = \(topicID) ORDER BY m.joined_at, m.user_id LIMIT 1
            """)
        return try rows.first.map { row throws(PostgresError) in try row.decode("user_id") }
    }

    /// Makes a topic with its first member; false when there is one, or its maker has too many.
    private func make(_ name: TopicName, owner: UUID) async throws(PostgresError) -> Bool {
        try await db.execute(
            """
            WITH made AS (
                INSERT INTO topics (name, owner_id) SELECT \(name.text), \(owner)
                WHERE (SELECT count(*) FROM topics WHERE owner_id = \(owner)) < \(TopicLimits.ownedMax)
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
