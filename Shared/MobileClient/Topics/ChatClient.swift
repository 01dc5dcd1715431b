public import Foundation

/// Conversations: their members, messages to them, and read marks.
///
/// The API keeps no text of a message: it announces messages to phones by pushes, and the app keeps the conversation itself. A
/// conversation's id is 1 to 64 characters of `A-Z a-z 0-9 _ -`, as in pushes; other ids throw `invalid_argument`. A conversation of which
/// this person is not a member throws `topic_not_found`.
public struct ChatClient: Sendable {
    private let api: any APISender
    private let topics: TopicAccess
    private let show: @Sendable (String?) async -> Void

    /// - Parameters:
    ///   - onBadge: Takes the number for the app's icon.
    ///   - show: Announces the conversation on the screen, until the app shows another one or none.
    init(
        api: any APISender, onBadge: @escaping @Sendable (Int, Date?) -> Void = { _, _ in },
        show: @escaping @Sendable (String?) async -> Void
    ) {
        self.api = api
        topics = TopicAccess(api: api, kind: .conversation, onBadge: onBadge)
        self.show = show
    }

    // MARK: Members

    /// Enters a conversation: makes it if no conversation has this id, or accepts an invitation. Also succeeds for a member.
    ///
    /// - Throws: `forbidden` when the id is taken and this person is not invited, `limit_reached` with 200 topics.
    public func enter(_ conversationID: String) async throws(HeliographError) { try await topics.enter(conversationID) }

    /// Leaves a conversation, which ends with its last member; declines an invitation.
    public func leave(_ conversationID: String) async throws(HeliographError) { try await topics.leave(conversationID) }

    /// Invites a person, or adds them at once if they have agreed to that: they have accepted another invitation of the owner's and are
    /// still a member there, or have the owner among their contacts. Only the owner may do this.
    ///
    /// - Throws: `forbidden` for a member who is not the owner, `rate_limited` after 100 people in a day.
    public func add(_ userID: UUID, to conversationID: String) async throws(HeliographError) -> TopicMembers.Addition {
        try await topics.add(userID, to: conversationID)
    }

    /// Removes a member, or withdraws an invitation. Only the owner does this.
    public func remove(_ userID: UUID, from conversationID: String) async throws(HeliographError) {
        try await topics.remove(userID, from: conversationID)
    }

    /// Fetches a page of the members, of up to 1,000: all for the owner, for others the owner and themselves unless all are visible.
    public func members(
        of conversationID: String, after cursor: UUID? = nil, limit: Int = 100
    ) async throws(HeliographError) -> TopicMembers {
        try await topics.members(of: conversationID, after: cursor, limit: limit)
    }

    /// Sets whether each member sees the others on the list of members. Only the owner does this.
    ///
    /// Pushes and lists of photos name the members who send something, however this is set.
    public func setMembersVisible(_ areVisible: Bool, in conversationID: String) async throws(HeliographError) {
        try await topics.setMembersVisible(areVisible, in: conversationID)
    }

    // MARK: Messages

    /// Announces a message to the other members by a push.
    ///
    /// If a message may have been announced, send it again unchanged: because of its id the answer is the same for 30 days, and there is no
    /// second push. So the app keeps a ``Message`` until this returns.
    /// - Throws: `idempotency_key_reused` when the id was used for another text.
    public func send(_ message: Message, to conversationID: String) async throws(HeliographError) -> Posted {
        try ArgumentLimits.message(message)
        return try await api.send(TopicRequests.post(message, to: try topics.name(conversationID)))
    }

    /// Marks a conversation as read, up to a message or entirely. The number on the icon follows.
    ///
    /// - Throws: `invalid_request` for a message that the API does not know (any more).
    public func markRead(_ conversationID: String, upTo messageID: String? = nil) async throws(HeliographError) -> TopicUnread {
        try await topics.read(conversationID, upTo: messageID)
    }

    /// Sets the conversation on the screen, or none: this phone gets no pushes about it, and shows none.
    ///
    /// - Throws: `invalid_argument` only. The announcement to the API is repeated in the background.
    public func setVisible(_ conversationID: String?) async throws(HeliographError) {
        if let conversationID { _ = try topics.name(conversationID) }
        await show(conversationID)
    }

    // MARK: Reports

    /// Reports a conversation to the operators.
    public func report(_ conversationID: String, _ report: ContentReport) async throws(HeliographError) {
        try await topics.report(conversationID, report)
    }

    /// Reports a message to the operators.
    public func report(messageID: String, in conversationID: String, _ report: ContentReport) async throws(HeliographError) {
        try ArgumentLimits.messageID(messageID)
        try ArgumentLimits.report(report)
        try await api.send(PeopleRequests.reportMessage(messageID, in: try topics.name(conversationID), report))
    }
}

extension ChatClient {
    /// A message with the id under which it may be sent again. The app keeps it until it is sent.
    public struct Message: Sendable, Equatable, Identifiable, Codable {
        /// 1 to 48 characters of `A-Z a-z 0-9 _ - .`, different from the ids of all other messages of the conversation.
        public let id: String
        /// The text, up to 16 KB; nil for a sensitive message whose text the API is not told.
        public let text: String?
        /// Whether pushes do not show the message.
        public let isSensitive: Bool

        /// Makes a message with an id of its own.
        public init(_ text: String?, isSensitive: Bool = false) {
            self.init(id: UUID().wireText, text: text, isSensitive: isSensitive)
        }

        /// Makes a message with an id that the app has made.
        public init(id: String, text: String?, isSensitive: Bool = false) {
            self.id = id
            self.text = text
            self.isSensitive = isSensitive
        }
    }

    /// A message that is announced.
    public struct Posted: Sendable, Equatable, Decodable {
        /// The id of the message, as the sender's app has made it.
        public let messageID: String
        /// The id of the conversation, without `conversation:`.
        public let conversationID: String
        /// The time of the first attempt that arrived, by which all members order messages.
        public let createdAt: Date

        enum CodingKeys: String, CodingKey {
            case messageID = "message_id"
            case conversationID = "conversation_id"
            case createdAt = "created_at"
        }
    }
}
