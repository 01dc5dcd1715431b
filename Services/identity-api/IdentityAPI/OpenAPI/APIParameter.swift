internal import JSON
internal import WireFormat

/// A parameter of the path, the query or the header.
struct APIParameter: Sendable {
    enum Place: String, Sendable { case path, query, header }

    let name: String
    let place: Place
    let schema: JSONSchema
    let summary: String

    /// A UUID in the path.
    static func id(_ name: String, _ summary: String) -> APIParameter {
        APIParameter(name: name, place: .path, schema: .uuid, summary: summary)
    }

    static let topic = APIParameter(
        name: "topic", place: .path, schema: .topicName,
        summary: "`event:` or `conversation:` and 1 to \(TopicName.maxIDLength) of `A-Z a-z 0-9 _ -`")
    static let member = APIParameter(
        name: "user", place: .path, schema: .any(of: [.uuid, .constant("me")]), summary: "A user's id, or `me`")
    static let message = APIParameter(name: "message", place: .path, schema: .messageID, summary: "The message's id")
    static let wait = APIParameter(
        name: "wait", place: .query, schema: .integer(0...60), summary: "Seconds to wait for the end; 0 without it")

    static func limit(_ range: ClosedRange<Int>, usual: Int) -> APIParameter {
        APIParameter(name: "limit", place: .query, schema: .integer(range), summary: "The size of a page; \(usual) without it")
    }

    static let cursor = APIParameter(
        name: "cursor", place: .query, schema: .text, summary: "The `next_cursor` of the page before")
    static let idempotencyKey = APIParameter(
        name: "Idempotency-Key", place: .header, schema: .text(1...(IdempotencyKey.maxLength + 2)),
        summary: "Makes the request safe to send again; an `X-Request-ID` that is a UUID does so too")
    static let installation = APIParameter(
        name: "X-Firebase-Installation-ID", place: .header, schema: .text, summary: "The phone of a Firebase user")

    static let deviceProof = APIParameter(
        name: "DPoP", place: .header, schema: .text, summary: "A proof of the device's key (RFC 9449): `ES256`, a new one for each request")

    /// Returns the parameters of a request in the order of the arguments that generated clients have: the path, the key of a repetition,
    /// the bearer's, the others.
    static func inOrder(_ ofTarget: [APIParameter], ofSender: [APIParameter]) -> [APIParameter] {
        let inPath = ofTarget.filter { $0.place == .path }
        let key = ofTarget.filter { $0.name == idempotencyKey.name }
        return inPath + key + ofSender + ofTarget.filter { $0.place != .path && $0.name != idempotencyKey.name }
    }

    var json: JSONValue {
        .members(
            ("name", .string(name)), ("in", .string(place.rawValue)), ("description", .string(summary)),
            ("required", place == .path ? true : nil), ("schema", schema.json))
    }
}

extension JSONSchema {
    static let topicName = text(
        7...(TopicName.maxIDLength + 13), pattern: "^(event|conversation):[A-Za-z0-9_-]{1,\(TopicName.maxIDLength)}$")
    static let messageID = text(1...ChatMessage.maxMessageIDLength, pattern: "^[A-Za-z0-9_.-]+$")
}
