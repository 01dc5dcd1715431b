internal import Accounts
public import FoundationEssentials
public import PostgresClient
public import WireFormat

/// Topics that belong to an app: its own server, which proves itself by a credential, creates and deletes them and decides who is a member.
///
/// Users cannot take such a name, and cannot enter unless the app has added them. They may leave and then return, and the app may add them
/// again, because it knows why they are members. As in all topics, an id without an account is a member without phones.
extension TopicRepository {
    /// Returns a topic if it belongs to this app; for other apps it does not exist.
    public func find(_ name: TopicName, ownedBy app: String) async throws(PostgresError) -> Topic? {
        let query: PostgresQuery = "SELECT * FROM topics WHERE name = \(name.text) AND owner_app = \(app)"
        return try await db.query(query.readOnly()).first.map(Topic.init(row:))
    }

    /// Creates a topic without members that belongs to an app.
    ///
    /// - Returns: `done` when it exists now; `nameTaken` when it belongs to another owner; `limitReached` when the app has too many.
    public func create(_ name: TopicName, ownedBy app: String) async throws(PostgresError) -> TopicMemberChange {
        let made = try await db.execute(
            """
            INSERT INTO topics (name, owner_app, member_count) SELECT \(name.text), \(app), 0
            WHERE (SELECT count(*) FROM topics WHERE owner_app = \(app)) < \(TopicLimits.maxOwnedByApp)
            ON CONFLICT (name) DO NOTHING
            """)
        if made == 1 { return .done(changed: true) }
        let rows = try await db.query("SELECT owner_app FROM topics WHERE name = \(name.text)")
        guard let row = rows.first else { return .limitReached }
        return try row.decode("owner_app", as: String?.self) == app ? .done(changed: false) : .nameTaken
    }

    /// Sets whether each member of an app's topic sees all members in the list.
    ///
    /// - Returns: Whether the topic exists.
    public func setMembersVisible(_ areVisible: Bool, in name: TopicName, ownedBy app: String) async throws(PostgresError) -> Bool {
        try await db.execute(
            "UPDATE topics SET members_visible = \(areVisible) WHERE name = \(name.text) AND owner_app = \(app)") == 1
    }

    /// Deletes a topic of an app with everything in it.
    ///
    /// - Returns: Whether it existed.
    public func delete(_ name: TopicName, ownedBy app: String) async throws(PostgresError) -> Bool {
        try await db.execute("DELETE FROM topics WHERE name = \(name.text) AND owner_app = \(app)") == 1
    }

    /// Makes a user a member of an app's topic, even if the user has left or was invited; does nothing for an erased account. Call in a
    /// transaction: the topic is locked first.
    public func put(_ userID: UUID, into name: TopicName, ownedBy app: String) async throws(PostgresError) -> TopicMemberChange {
        guard let topic = try await lock(name), topic.ownerApp == app else { return .notFound }
        if try await isMember(userID, of: topic.id) { return .done(changed: false) }
        if try await ErasureRepository(db).isErased(userID) { return .done(changed: false) }
        guard topic.memberCount < TopicLimits.maxMembers else { return .limitReached }
        try await insert(userID, into: topic)
        return .done(changed: true)
    }

    /// Removes a user from an app's topic; the user cannot return alone. Call in a transaction: the topic is locked first.
    public func take(_ userID: UUID, outOf name: TopicName, ownedBy app: String) async throws(PostgresError) -> TopicMemberChange {
        guard let topic = try await lock(name), topic.ownerApp == app else { return .notFound }
        try await db.execute(
            "UPDATE topic_leavers SET may_return = false WHERE topic_id = \(topic.id) AND user_id = \(userID)")
        guard try await isMember(userID, of: topic.id) else { return .done(changed: false) }
        try await db.execute("DELETE FROM topic_members WHERE topic_id = \(topic.id) AND user_id = \(userID)")
        try await db.execute("UPDATE topics SET member_count = member_count - 1 WHERE id = \(topic.id)")
        return .done(changed: true)
    }
}
