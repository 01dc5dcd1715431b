/// The outcome of one send.
public enum FCMOutcome: Sendable, Equatable {
    /// FCM has accepted the message and now delivers it to the phone.
    case accepted(name: String)
    /// The installation is gone: do not send to it again.
    case deadTarget
    /// The installation belongs to another Firebase project than ours. A single one is a stray token. When all sends end so, our
    /// key is of the wrong project, so the outcome does not prove that the installation is invalid.
    case foreignTarget
    /// The message itself is refused, now and on every retry.
    case badPayload
    /// Apple's or the browser's push service refuses the project's credentials.
    case providerAuth
    /// The project, its API or our permissions in it are not set up.
    case config
    /// Our access token is refused and a new one did not help or was not available, or Google refuses to issue one.
    case ourAuth
    /// A quota is exceeded; the whole lane must wait that long.
    case quota(retryAfter: Duration)
    /// A transient fault of FCM; wait at least `retryAfter` if it is set. The message may have been delivered.
    case transient(retryAfter: Duration?)
    /// The message certainly did not reach FCM.
    case notSent
    /// The message may have reached FCM; the response was lost.
    case ambiguous
    /// The sending task was cancelled.
    case cancelled

    /// Whether the phone may show the message although FCM has not confirmed it.
    public var mayHaveArrived: Bool {
        switch self {
        case .transient, .ambiguous, .cancelled: true
        case .accepted, .deadTarget, .foreignTarget, .badPayload, .providerAuth, .config, .ourAuth, .quota, .notSent: false
        }
    }
}

/// The outcome of one send, and its code.
public struct FCMResult: Sendable, Equatable {
    /// The outcome.
    public let outcome: FCMOutcome
    /// A short code for the database and metrics, such as `UNREGISTERED` or `timeout`; FCM's own where there is one.
    public let code: String

    /// Makes a result.
    public init(_ outcome: FCMOutcome, code: String) {
        self.outcome = outcome
        self.code = code
    }
}
