internal import Accounts
internal import EventBus
internal import FoundationEssentials
internal import Metrics
internal import PostgresClient
internal import Push
internal import Topics
internal import WireFormat

/// Answers `POST /v1/topics/conversation:{id}/messages` and `POST /v1/topics/{topic}/read`.
///
/// The text leaves only as a sealed preview in a push and is not stored: the app keeps the conversation itself.
struct MessageController: Sendable {
    let postgres: PostgresClient
    let keys: AccountKeys

    /// Posts a message once: a repetition gets the same answer and causes no other push.
    func post(_ call: APICall<Identity, TopicName, MessageBody>) async throws -> APIRepeatable<MessageReply> {
        let userID = call.sender.userID
        guard let sender = try await UserRepository(postgres).find(id: userID) else {
            throw APIError.unauthorized("The account is gone")
        }
        let message = ChatMessage(call.body, in: call.target)
        let push = try ChatPush(message, senderName: try keys.displayName(of: sender), keys: keys)
        let (posted, isReplay) = try await write(push, by: userID, call.context)
        if !isReplay { Counter(label: "chat_messages_total").increment() }
        return APIRepeatable(value: MessageReply(message: posted, conversation: call.target), isReplay: isReplay)
    }

    /// Marks a topic as read by the sender, up to a message or entirely.
    func read(_ call: APICall<Identity, TopicName, ReadBody>) async throws -> ReadTopic {
        let (userID, name) = (call.sender.userID, call.target)
        switch try await ConversationRepository(postgres).markRead(name, by: userID, upTo: call.body.messageID) {
        case .notFound: throw APIError.topicNotFound
        case .messageUnknown:
            throw APIError(.invalidRequest, "The topic has no such message, or not any more", field: MessageBody.idField)
        case .unread(let unread):
            let badge = try await UnreadRepository(postgres).totals(userIDs: [userID])[userID] ?? 0
            return ReadTopic(topic: name, unread: unread, badge: badge)
        }
    }

    /// Writes the message and its push in one transaction.
    ///
    /// - Returns: The message, and whether it was posted before.
    private func write(
        _ push: ChatPush, by senderID: UUID, _ context: APIRequestContext
    ) async throws -> (ConversationMessage, isReplay: Bool) {
        let message = push.message
        let new = NewConversationMessage(
            conversation: message.conversation, messageID: message.messageID, senderID: senderID,
            notificationID: push.notificationID, fingerprints: keys.fingerprints(of: message.fingerprintMessage))
        return try await postgres.withTransaction { transaction in
            switch try await ConversationRepository(transaction).post(new) {
            case .notFound: throw APIError.topicNotFound
            case .idTaken:
                throw APIError(.idempotencyKeyReused, "The id was used for another message", field: MessageBody.idField)
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
}
