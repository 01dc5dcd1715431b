internal import EventBus
internal import FoundationEssentials
internal import HTTPTypes
internal import Hummingbird
internal import JSON
internal import Metrics
internal import PostgresClient
internal import Push
internal import Storage
internal import WireFormat

/// Answers `POST /v1/topics/conversation:{id}/messages` and `POST /v1/topics/{topic}/read`.
///
/// The text leaves only as a sealed preview in a push and is not stored: the app keeps the conversation itself.
struct MessageController: Sendable {
    /// The maximum size of a message's JSON: a text whose every byte is escaped, and 4 KiB for the other fields.
    static let maxMessageBytes = 6 * ChatMessage.maxTextBytes + 4 * 1_024
    /// The maximum size of the JSON of a read request.
    static let maxReadBytes = 4 * 1_024

    let postgres: PostgresClient
    let keys: AccountKeys
    let authenticator: any Authenticator
    /// Limits the messages of one account.
    let limiter: RateLimiter<UUID>
    /// Limits the read requests of one account.
    let signals: RateLimiter<UUID>

    /// Posts a message once: a repetition gets the same answer and causes no other push.
    func post(_ request: Request, _ context: APIRequestContext) async throws -> Response {
        let identity = try await authenticator.identify(request)
        let name = try context.topicName()
        guard name.kind == .conversation else {
            throw APIError(.invalidRequest, "Messages are sent to conversations", field: "topic")
        }
        try limiter.admit(identity.userID, context.limits, or: "Too many messages of this account")
        let message = try ChatMessage(try await JSONBody(of: request, upTo: Self.maxMessageBytes, context), in: name)
        guard let sender = try await UserRepository(postgres).find(id: identity.userID) else {
            throw APIError.unauthorized("The account is gone")
        }
        let push = try ChatPush(message, senderName: try keys.displayName(of: sender), keys: keys)
        let (posted, isReplay) = try await write(push, by: identity.userID, request, context)
        var response = Answer.json(Self.answer(posted, name, context.requestID), status: .accepted)
        if isReplay {
            response.headers[.idempotentReplayed] = "true"
        } else {
            Counter(label: "chat_messages_total").increment()
        }
        return response
    }

    /// Marks a topic as read by the sender, up to a message or entirely.
    func read(_ request: Request, _ context: APIRequestContext) async throws -> Response {
        let identity = try await authenticator.identify(request)
        let name = try context.topicName()
        try signals.admit(identity.userID, context.limits, or: "Too many signals of this account")
        let body = try await JSONBody(ofAny: request, upTo: Self.maxReadBytes, context)
        let messageID = try body.word("message_id").map { id throws(APIError) in try ChatMessage.checkedID(id) }
        switch try await ConversationRepository(postgres).markRead(name, by: identity.userID, upTo: messageID) {
        case .notFound: throw APIError.topicNotFound
        case .messageUnknown:
            throw APIError(.invalidRequest, "The topic has no such message, or not any more", field: "message_id")
        case .unread(let unread):
            let badge = try await UnreadRepository(postgres).totals(userIDs: [identity.userID])[identity.userID] ?? 0
            let data = JSONValue.members(
                ("topic", .string(name.text)), ("unread", .integer(unread)), ("badge", .integer(badge)))
            return Answer.json(Answer.data(data, context.requestID))
        }
    }

    /// Writes the message and its push in one transaction.
    ///
    /// - Returns: The message, and whether it was posted before.
    private func write(
        _ push: ChatPush, by senderID: UUID, _ request: Request, _ context: APIRequestContext
    ) async throws -> (ConversationMessage, isReplay: Bool) {
        let message = push.message
        let new = NewConversationMessage(
            conversation: message.conversation, messageID: message.messageID, senderID: senderID,
            notificationID: push.notificationID, fingerprints: keys.fingerprints(of: message.fingerprintMessage))
        return try await postgres.withTransaction { transaction in
            switch try await ConversationRepository(transaction).post(new) {
            case .notFound: throw APIError.topicNotFound
            case .idTaken:
                throw APIError(.idempotencyKeyReused, "The id was used for another message", field: "message_id")
            case .repeated(let posted): return (posted, true)
            case .posted(let posted, let memberCount):
                // A conversation without other members causes no push.
                if memberCount > 1 {
                    let told = push.request(posted, memberCount: memberCount)
                    try await OutboxRepository(transaction).publish(
                        told, requestID: context.requestID, traceparent: context.traceparent, expiresAt: told.expiresAt)
                }
                return (posted, false)
            }
        }
    }

    private static func answer(_ posted: ConversationMessage, _ name: TopicName, _ requestID: String) -> JSONValue {
        Answer.data(
            .members(
                ("message_id", .string(posted.messageID)), ("conversation_id", .string(name.id)),
                ("created_at", .string(Answer.timestamp(posted.createdAt)))),
            requestID)
    }
}
