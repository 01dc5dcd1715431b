internal import FoundationEssentials
internal import HTTPTypes
internal import Hummingbird
internal import WireFormat

extension APIOperation {
    static let postMessage = APIOperation(
        .post, APITarget("/v1/topics/{topic}/messages", .topic(.conversation, or: "Messages are sent to conversations")),
        id: "postMessage", area: .topics,
        summary: "Announces a message to the other members by a push. `text` is needed unless it is `sensitive`", from: .user(.messages),
        reply: .repeatable(.data("The message is posted", status: .accepted)), errors: [.topicNotFound, .idempotencyKeyReused],
        repetition: "by `message_id`, 30 days", handler: { $0.topics.messages.post })

    static let markRead = APIOperation(
        .post, APITarget("/v1/topics/{topic}/read", .topic), id: "markRead", area: .topics,
        summary: "Marks a topic as read, up to a message or entirely", from: .user(.signals), reply: .data("What is left"),
        errors: [.topicNotFound], repetition: "yes", handler: { $0.topics.messages.read })
}
