import Foundation

@testable import MobileClient

extension GoldenExchange {
    private static let user = GoldenFile.id("user")
    private static let conversation = "conversation:c-1"

    private static func page(_ count: Int, areVisible: Bool, next: UUID?) -> TopicMembers {
        TopicMembers(
            ownerID: GoldenFile.id(), count: count, areVisible: areVisible,
            members: [.init(userID: GoldenFile.id(), joinedAt: GoldenFile.time)], nextCursor: next)
    }

    private static func posted(_ id: String) -> ChatClient.Posted {
        ChatClient.Posted(messageID: id, conversationID: "c-1", createdAt: GoldenFile.time)
    }

    private static func post(_ id: String, _ text: String?, isSensitive: Bool = false) -> APIRequest<ChatClient.Posted> {
        TopicRequests.post(.init(id: id, text: text, isSensitive: isSensitive), to: conversation)
    }

    /// Members of events and conversations.
    static let members: [GoldenExchange] = [
        .done("topic-enter", TopicRequests.enter("event:party")),
        .refusal("topic-enter-forbidden", TopicRequests.enter("event:party"), .forbidden),
        .done("topic-leave", TopicRequests.leave("event:party")),
        .answer("topic-add-invited", TopicRequests.add(user, to: "event:party"), is: .invited),
        .answer("topic-add-added", TopicRequests.add(user, to: "event:other"), is: .added),
        .refusal("topic-add-forbidden", TopicRequests.add(user, to: "event:party"), .forbidden),
        .refusal("topic-add-rate-limited", TopicRequests.add(user, to: "event:1"), .rateLimited, waits: true),
        .done("topic-remove", TopicRequests.remove(user, from: "event:party")),
        .answer(
            "topic-members-page", TopicRequests.members(of: "event:party", after: nil, limit: 1),
            is: page(2, areVisible: false, next: GoldenFile.id())),
        .answer(
            "topic-members-last-page", TopicRequests.members(of: "event:party", after: nil, limit: 100),
            is: page(1, areVisible: true, next: nil)),
        .done("topic-settings", TopicRequests.setMembersVisible(true, in: "event:party")),
        .refusal("topic-settings-forbidden", TopicRequests.setMembersVisible(true, in: "event:party"), .forbidden),
        .refusal("topic-members-not-found", TopicRequests.members(of: "event:party", after: nil, limit: 100), .topicNotFound),
    ]

    /// What this person is a member of, and may become.
    static let lists: [GoldenExchange] = [
        .answer(
            "topics-page", TopicRequests.topics(after: nil, limit: 1),
            is: TopicList(
                topics: [.init(name: "event:party", role: .member, memberCount: 2, areMembersVisible: false, joinedAt: GoldenFile.time)],
                nextCursor: GoldenFile.token
            )),
        .answer(
            "topics-last-page", TopicRequests.topics(after: "token-cursor", limit: 50),
            is: TopicList(
                topics: [
                    .init(name: "conversation:c-1", role: .owner, memberCount: 1, areMembersVisible: false, joinedAt: GoldenFile.time)
                ], nextCursor: nil)),
        .answer(
            "invitations-list", TopicRequests.invitations(after: nil, limit: 50),
            is: InvitationList(
                invitations: [
                    .init(topic: "event:party", inviterID: GoldenFile.id("user"), createdAt: GoldenFile.time, expiresAt: GoldenFile.time)
                ], nextCursor: nil)),
        .answer("photos-list", TopicRequests.photos(of: "event:party", after: nil, limit: 50)) { page in
            page.photos.count == 1 && page.photos[0].uploaderID == user && page.photos[0].id == GoldenFile.id()
                && page.photos[0].thumbnailURL.path.hasSuffix("/thumbnail-1.jpg") && page.nextCursor == nil
        },
        .refusal("photos-not-found", TopicRequests.photos(of: "event:party", after: nil, limit: 50), .topicNotFound),
    ]

    /// Messages, and what is read.
    static let messages: [GoldenExchange] = [
        .answer("message-post", post("m-1", "Dinner at eight?"), makesKey: true, is: posted("m-1")),
        .answer("message-repeated", post("m-1", "Dinner at eight?"), makesKey: true, is: posted("m-1")),
        .answer("message-sensitive", post("m-2", nil, isSensitive: true), makesKey: true, is: posted("m-2")),
        .refusal("message-id-reused", post("m-1", "Dinner at nine?"), makesKey: true, .idempotencyKeyReused, field: "message_id"),
        .refusal("message-missing-text", post("m-3", nil), makesKey: true, .missingField, field: "text"),
        .refusal("message-unsupported-media-type", post("m-1", nil), isSent: false, .unsupportedMediaType),
        .answer("read-up-to", TopicRequests.read(conversation, upTo: "m-1"), makesKey: true, is: TopicUnread(unread: 1, badge: 1)),
        .answer("read-all", TopicRequests.read(conversation, upTo: nil), makesKey: true, is: TopicUnread(unread: 0, badge: 0)),
        .refusal(
            "read-unknown-message", TopicRequests.read(conversation, upTo: "m-9"), makesKey: true, .invalidRequest, field: "message_id"),
    ]

    /// The templates of pictures.
    static let templates: [GoldenExchange] = [
        .answer("templates-list", TemplateRequests.list()) {
            $0.count == 6 && $0[0].id == "anime-style" && $0[0].name == "Anime Style" && $0.allSatisfy { $0.preview == nil }
        },
        .refusal("templates-rate-limited", TemplateRequests.list(), .rateLimited, waits: true),
    ]
}
