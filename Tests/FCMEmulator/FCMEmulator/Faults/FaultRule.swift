/// What goes wrong, for which requests, how often.
public struct FaultRule: Sendable, Equatable {
    /// Which requests a rule is about.
    public enum Endpoint: String, Sendable, CaseIterable {
        /// `messages:send`.
        case send
        /// `/token`.
        case token
    }

    /// What the caller sees.
    public enum Effect: Sendable, Equatable {
        /// Nothing: the request is only delayed.
        case none
        /// An error envelope of FCM, under its usual HTTP status or another.
        case error(FCMFault, status: Int? = nil)
        /// A status with a page of HTML instead of an envelope.
        case html(status: Int)
        /// No answer, until the caller gives up.
        case hang
        /// The connection is closed, with everything on it.
        case dropConnection
        /// The stream is reset; under HTTP/1.1 the connection is closed.
        case resetStream
    }

    /// What the caller sees.
    public var effect: Effect
    /// Which requests the rule is about.
    public var endpoint = Endpoint.send
    /// Whether the message is accepted and delivered before the effect: a lost answer.
    public var isDelivered = false
    /// The `Retry-After` header: seconds, or an HTTP date.
    public var retryAfter: String?
    /// How long the answer is held back.
    public var latency = Duration.zero
    /// How many requests the rule is still good for; nil until it is removed.
    public var count: Int? = 1
    /// How many matching requests pass unharmed first.
    public var skip = 0
    /// The only registration the rule is about; nil for all.
    public var registration: String?

    /// A rule for the next send.
    public init(_ effect: Effect) { self.effect = effect }
}

/// The ways in which FCM itself refuses.
public enum FCMFault: String, Sendable, CaseIterable {
    case invalidArgument = "INVALID_ARGUMENT"
    case unregistered = "UNREGISTERED"
    case senderIDMismatch = "SENDER_ID_MISMATCH"
    case quotaExceeded = "QUOTA_EXCEEDED"
    case unavailable = "UNAVAILABLE"
    case `internal` = "INTERNAL"
    case thirdPartyAuthError = "THIRD_PARTY_AUTH_ERROR"
    /// A bare 401: our access token is refused.
    case unauthenticated = "UNAUTHENTICATED"
    /// The service account may not send.
    case permissionDenied = "PERMISSION_DENIED"

    func refusal(project: String) -> FCMRefusal {
        switch self {
        case .invalidArgument: .badToken
        case .unregistered: .unregistered
        case .senderIDMismatch: .senderMismatch
        case .quotaExceeded: .quotaExceeded
        case .unavailable: .unavailable
        case .internal: .internalError
        case .thirdPartyAuthError: .thirdPartyAuth
        case .unauthenticated: .credentialsInvalid
        case .permissionDenied: .permissionDenied(project: project)
        }
    }

    /// The fault a bare HTTP status stands for.
    init?(status: Int) {
        switch status {
        case 400: self = .invalidArgument
        case 401: self = .unauthenticated
        case 403: self = .senderIDMismatch
        case 404: self = .unregistered
        case 429: self = .quotaExceeded
        case 500: self = .internal
        case 503: self = .unavailable
        default: return nil
        }
    }
}
