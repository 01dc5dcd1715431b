internal import FoundationEssentials
internal import Hummingbird
internal import JSON
internal import PostgresClient
internal import Storage
internal import WireFormat

/// Answers `PUT /v1/users/me/presence`: sets the conversation that the sender's device has on its screen.
///
/// While it is set, that device gets no pushes about the conversation; the sender's other devices do. This marks nothing as read: the
/// app does that by a request of its own.
struct PresenceController: Sendable {
    private static let field = "conversation_id"
    /// The maximum size of the JSON.
    static let maxBodyBytes = 4 * 1_024

    let postgres: PostgresClient
    let authenticator: any Authenticator
    /// Limits the presence changes of one account.
    let limiter: RateLimiter<UUID>

    func put(_ request: Request, _ context: APIRequestContext) async throws -> Response {
        let identity = try await authenticator.identify(request)
        try limiter.admit(identity.userID, context.limits, or: "Too many signals of this account")
        let body = try await JSONBody(of: request, upTo: Self.maxBodyBytes, context)
        guard body.has(Self.field) else {
            throw APIError(.missingField, "The conversation is missing; null means none", field: Self.field)
        }
        let text = try body.word(Self.field)
        guard let key = identity.installationKey else {
            throw APIError(.deviceNotRegistered, "This sign-in has no device yet; register its push token first")
        }
        guard let text else {
            try await PresenceRepository(postgres).hide(installationKey: key, userID: identity.userID)
            return Self.answer(nil, until: nil, context)
        }
        guard let name = TopicName(conversation: text) else {
            throw APIError(.invalidRequest, "The conversation's id is none", field: Self.field)
        }
        guard let until = try await PresenceRepository(postgres).show(name, on: key, userID: identity.userID) else {
            throw APIError.topicNotFound
        }
        return Self.answer(name, until: until, context)
    }

    private static func answer(_ name: TopicName?, until: Date?, _ context: APIRequestContext) -> Response {
        Answer.json(
            Answer.data(
                .members(
                    (field, name.map { .string($0.id) } ?? .null),
                    ("lease_seconds", .integer(until == nil ? 0 : Int(PresenceRepository.lease.components.seconds))),
                    ("expires_at", until.map { .string(Answer.timestamp($0)) })),
                context.requestID))
    }
}

extension TopicName {
    /// Reads a conversation's id, as in pushes, or its whole name; nil for anything else.
    init?(conversation text: String) {
        guard let name = TopicName(text.contains(":") ? text : "conversation:\(text)"), name.kind == .conversation else { return nil }
        self = name
    }
}
