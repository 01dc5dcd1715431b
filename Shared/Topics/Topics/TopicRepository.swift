public import FoundationEssentials
public import PostgresClient
public import WireFormat

/// Reads and writes `topics` and `topic_members`.
///
/// The first user who enters a topic creates and owns it. The owner invites others and removes members; every member may leave. When the
/// owner leaves, the member of longest standing becomes the owner; with the last member the topic is deleted. A topic of an app has no
/// such owner, and stays when it is empty; see `TopicRepository+Apps.swift`.
///
/// Knowing a user's id does not mean knowing the user: ids are in pushes and responses, and anyone may have one. So a user whom the owner
/// adds is only invited, and gets nothing of the topic until they accept by entering it themselves: no push but the one about the
/// invitation, no list of members, nothing unread. A user is added at once only after consent to this owner: an accepted invitation into
/// another topic of the owner, or the owner among the user's contacts; see `TopicRepository+Consent.swift`. Memberships that others can
/// bring about are no consent: a shared topic, an app's topic, or a topic that another owner has passed on.
///
/// Leaving and declining are final for others: the owner can neither add nor invite such a user again. The user may return on their own,
/// until the owner removes them, although they have already left.
public struct TopicRepository: Sendable {
    /// The most members of one page of a list.
    public static let maxPageSize = 1_000

    let db: any PostgresQueryable

    /// Works on a client or inside a transaction.
    public init(_ db: some PostgresQueryable) {
        self.db = db
    }

    /// Returns a topic if this user is a member; for others it does not exist.
    public func find(_ name: TopicName, seenBy userID: UUID) async throws(PostgresError) -> Topic? {
        let query: PostgresQuery = """
            SELECT t.* FROM topics t JOIN topic_members m ON m.topic_id = t.id AND m.user_id = \(userID)
            WHERE t.name = \(name.text)
            """
        return try await db.query(query.readOnly()).first.map(Topic.init(row:))
    }

    /// Returns topics by name; unknown names are omitted.
    public func find(names: [TopicName]) async throws(PostgresError) -> [Topic] {
        guard !names.isEmpty else { return [] }
        let query: PostgresQuery = "SELECT * FROM topics WHERE name = ANY(\(names.map(\.text)))"
        return try await db.query(query.readOnly()).map(Topic.init(row:))
    }

    /// Returns members in the order of their ids.
    ///
    /// - Parameters:
    ///   - userIDs: The users to look for among the members; nil for all members.
    ///   - after: The last member of the previous page; nil for the first page.
    ///   - limit: The most members; capped at ``maxPageSize``.
    public func members(
        of topicID: UUID, among userIDs: [UUID]? = nil, after: UUID? = nil, limit: Int
    ) async throws(PostgresError) -> [TopicMember] {
        let (after, limit) = (after ?? UUID.beforeAll, min(max(limit, 0), Self.maxPageSize))
        let all: PostgresQuery = """
            SELECT user_id, joined_at FROM topic_members WHERE topic_id = \(topicID) AND user_id > \(after)
            ORDER BY user_id LIMIT \(limit)
            """
        let few: PostgresQuery = """
            SELECT user_id, joined_at FROM topic_members
            WHERE topic_id = \(topicID) AND user_id = ANY(\(userIDs ?? [])) AND user_id > \(after)
            ORDER BY user_id LIMIT \(limit)
            """
        return try await db.query((userIDs == nil ? all : few).readOnly()).map(TopicMember.init(row:))
    }

    /// Sets whether each member sees all members in the list. Only the owner may set it.
    ///
    /// - Returns: `forbidden` when the actor is another member; `notFound` when the actor is not a member.
    public func setMembersVisible(
        _ areVisible: Bool, in name: TopicName, by actor: UUID
    ) async throws(PostgresError) -> TopicMemberChange {
        let changed = try await db.execute(
            "UPDATE topics SET members_visible = \(areVisible) WHERE name = \(name.text) AND owner_id = \(actor)")
        guard changed == 0 else { return .done(changed: true) }
        return try await find(name, seenBy: actor) == nil ? .notFound : .forbidden
    }

    func lock(_ name: TopicName) async throws(PostgresError) -> Topic? {
        try await db.query("SELECT * FROM topics WHERE name = \(name.text) FOR UPDATE").first.map(Topic.init(row:))
    }

    func isMember(_ userID: UUID, of topicID: UUID) async throws(PostgresError) -> Bool {
        try await !db.query("SELECT user_id FROM topic_members WHERE topic_id = \(topicID) AND user_id = \(userID)").isEmpty
    }
}
