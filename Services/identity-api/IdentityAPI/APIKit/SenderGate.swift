internal import FoundationEssentials
internal import Hummingbird

/// Identifies the senders of requests, and limits the requests of one account.
struct SenderGate: Sendable {
    let users: any Authenticator
    let services: APIKeyAuthenticator
    /// The limit of requests, changes and signals together.
    let signals: RateLimiter<UUID>
    let devices: RateLimiter<UUID>
    let topics: RateLimiter<UUID>
    let messages: RateLimiter<UUID>
    /// The limit of orders of pictures.
    let orders: RateLimiter<UUID>
    /// The limit of photos of events.
    let photos: RateLimiter<UUID>

    /// Returns the user that sends a request, and counts the request against a limit.
    func user(_ request: Request, _ context: APIRequestContext, _ limit: AccountLimit?) async throws -> Identity {
        let identity = try await users.identify(request)
        if let limit { try limiter(of: limit).admit(identity.userID, context.limits, or: limit.refusal) }
        return identity
    }

    private func limiter(of limit: AccountLimit) -> RateLimiter<UUID> {
        switch limit {
        case .requests, .changes, .signals: signals
        case .registrations: devices
        case .topicChanges: topics
        case .messages: messages
        case .orders: orders
        case .photos: photos
        }
    }
}

/// A limit on the requests of one account.
enum AccountLimit: Sendable {
    case requests
    case changes
    case signals
    /// Registrations and removals of devices.
    case registrations
    /// Changes of topics.
    case topicChanges
    case messages
    case orders
    case photos

    /// The sentence of the refusal.
    var refusal: String {
        switch self {
        case .requests: "Too many requests by this account"
        case .changes, .topicChanges: "Too many changes by this account"
        case .signals: "Too many signals of this account"
        case .registrations: "Too many registrations by this account"
        case .messages: "Too many messages of this account"
        case .orders: "Too many orders of this account"
        case .photos: "Too many photos of this account"
        }
    }
}
