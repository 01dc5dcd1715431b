internal import FoundationEssentials
internal import HTTPTypes
internal import Hummingbird
internal import JSON
internal import PostgresClient
internal import Topics
internal import WireFormat

/// Answers `PUT /v1/users/me/presence`: sets the conversation that the sender's device has on its screen.
///
/// While it is set, that device gets no pushes about the conversation; the sender's other devices do. This marks nothing as read: the
/// app does that by a request of its own.
struct PresenceController: Sendable {
    let postgres: PostgresClient

    func put(_ call: APICall<Identity, Void, PresenceBody>) async throws -> Presence {
        guard let key = call.sender.installationKey else {
            throw APIError(.deviceNotRegistered, "This sign-in has no device yet; register its push token first")
        }
        let (presence, userID) = (PresenceRepository(postgres), call.sender.userID)
        guard let text = call.body.conversation else {
            try await presence.hide(installationKey: key, userID: userID)
            return Presence()
        }
        guard let name = TopicName(conversation: text) else {
            throw APIError(.invalidRequest, "The conversation's id is none", field: PresenceBody.field)
        }
        guard let until = try await presence.show(name, on: key, userID: userID) else { throw APIError.topicNotFound }
        return Presence(conversation: name.id, expiresAt: until)
    }
}

/// The body that names the conversation on the screen.
struct PresenceBody: JSONObjectBody {
    static let field = "conversation_id"
    static let fields = BodyFields<PresenceBody>(.wordOrNull(field, or: "The conversation is missing; null means none")) {
        PresenceBody(conversation: $0)
    }
    static let maxBytes = 4 * 1_024

    let conversation: String?
}

/// The conversation that a phone shows.
struct Presence: APIObject {
    static let members: [APIMember<Presence>] = [
        .required(PresenceBody.field, \.conversation), .required("lease_seconds", \.leaseSeconds), .optional("expires_at", \.expiresAt),
    ]

    /// The id of the conversation; nil for none.
    var conversation: String?
    var expiresAt: Date?
    private var leaseSeconds: Int { expiresAt == nil ? 0 : Int(PresenceRepository.lease.components.seconds) }
}

extension APIOperation {
    static let setPresence = APIOperation(
        .put, "/v1/users/me/presence", id: "setPresence", area: .people,
        summary: "The conversation that the phone shows, or null: no pushes about it for 45 seconds", from: .user(.signals),
        reply: .data("What the phone shows", example: ["expires_at": "2025-10-27T10:00:45Z"]),
        errors: [.deviceNotRegistered, .topicNotFound], handler: { $0.people.presence.put })
}

extension TopicName {
    /// Reads a conversation's id, as in pushes, or its whole name; nil for anything else.
    init?(conversation text: String) {
        guard let name = TopicName(text.contains(":") ? text : "conversation:\(text)"), name.kind == .conversation else { return nil }
        self = name
    }
}
