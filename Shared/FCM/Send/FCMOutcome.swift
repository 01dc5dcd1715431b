/// What became of one send.
public enum FCMOutcome: Sendable, Equatable {
    /// FCM has taken the message; delivery to the phone is its business from here.
    case accepted(name: String)
    /// The installation is gone: do not send to it again.
    case deadTarget
    /// The installation belongs to another Firebase project than ours. One such is a stray token; many and nothing else mean
    /// that our key is of the wrong project, so it says nothing against the installation.
    case foreignTarget
    /// The message itself is refused; it will be every time.
    case badPayload
    /// Apple's or the browser's push service refuses the project's credentials.
    case providerAuth
    /// The project, its API or our rights in it are not set up.
    case config
    /// Our access token is refused, or we get none, and a new one did not help.
    case ourAuth
    /// Too much at once; wait that long, for the whole lane.
    case quota(retryAfter: Duration)
    /// A fault of FCM that passes; wait at least that long if it said so. The message may have been delivered.
    case transient(retryAfter: Duration?)
    /// The message certainly did not get there.
    case notSent
    /// The message may have got there; its answer was lost.
    case ambiguous
    /// The sending task was cancelled.
    case cancelled

    /// Whether the phone may show the message although FCM's word for it is missing.
    public var mayHaveArrived: Bool {
        switch self {
        case .transient, .ambiguous, .cancelled: true
        case .accepted, .deadTarget, .foreignTarget, .badPayload, .providerAuth, .config, .ourAuth, .quota, .notSent: false
        }
    }
}

/// What became of one send, and FCM's word for it.
public struct FCMResult: Sendable, Equatable {
    /// What became of it.
    public let outcome: FCMOutcome
    /// A short word for ledgers and metrics, such as `UNREGISTERED` or `timeout`; FCM's own where it gave one.
    public let code: String

    /// Makes a result.
    public init(_ outcome: FCMOutcome, code: String) {
        self.outcome = outcome
        self.code = code
    }
}
