internal import Accounts
internal import FoundationEssentials
internal import PostgresClient

/// Finds whether a user has agreed to be added to topics of an inviter. The topic is locked before.
extension TopicRepository {
    /// Whether an inviter may add a user without an invitation: the user has accepted an invitation of theirs into another topic that they
    /// still own, and is still a member of it; or the user has the inviter among the contacts. Not if the user blocks the inviter.
    ///
    /// The result holds until the transaction ends: locks delay the user's leaving of the other topic, the removal of the contact, a block,
    /// and the inviter's loss of the other topic. All statements run in every case, so that the duration does not disclose a block.
    func isAllowed(_ inviterID: UUID, by userID: UUID) async throws(PostgresError) -> Bool {
        try await PeopleListRepository(.blocks, db).holdAbsences(of: userID)
        let isBlocked = try await !db.query("SELECT FROM user_blocks WHERE user_id = \(userID) AND blocked_id = \(inviterID)").isEmpty
        let isContact = try await !db.query(
            "SELECT FROM user_contacts WHERE user_id = \(userID) AND contact_id = \(inviterID) FOR KEY SHARE"
        ).isEmpty
        let hasAccepted = try await hasAccepted(inviterID, by: userID)
        return !isBlocked && (isContact || hasAccepted)
    }

    /// Whether a user is a member of a topic that an inviter owns, by an invitation of theirs. Topics of apps have no such owner.
    private func hasAccepted(_ inviterID: UUID, by userID: UUID) async throws(PostgresError) -> Bool {
        // One index lookup for each topic of the inviter: with OFFSET 0 the time does not depend on the user's memberships. The owner
        // passes a topic on by leaving, which the lock on their membership holds up. One on the topic could deadlock with an addition.
        let rows = try await db.query(
            """
            SELECT FROM topics t JOIN topic_members o ON o.topic_id = t.id AND o.user_id = t.owner_id
            CROSS JOIN LATERAL (
                SELECT FROM topic_members
                WHERE topic_id = t.id AND user_id = \(userID) AND is_accepted AND joined_at >= t.owned_since OFFSET 0 FOR KEY SHARE) m
            WHERE t.owner_id = \(inviterID) LIMIT 1 FOR KEY SHARE OF o
            """)
        return !rows.isEmpty
    }
}
