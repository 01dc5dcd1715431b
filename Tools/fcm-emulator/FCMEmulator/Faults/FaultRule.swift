import FoundationEssentials
import NIOHTTP2

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
        /// Nothing: the answer is only delayed.
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
        case resetStream(StreamReset = .internalError)
        /// The request is answered as ever, and is the last that its connection serves: requests sent after it are
        /// refused by GOAWAY, unprocessed. Under HTTP/1.1 the connection is closed.
        case goAway
    }

    /// What the caller sees.
    public var effect: Effect
    /// Which requests the rule is about.
    public var endpoint = Endpoint.send
    /// Whether the message is accepted and delivered before the effect: a lost answer.
    public var isDelivered = false
    /// The `Retry-After` header: seconds, or an HTTP date.
    public var retryAfter: String?
    /// The `Retry-After` header as the date that is so many seconds away when the answer is given.
    public var retryAfterDateSeconds: Int?
    /// How long the answer is held back.
    public var latency = FaultLatency.fixed(.zero)
    /// How many requests the rule is still good for; nil until it is removed.
    public var count: Int? = 1
    /// How many matching requests pass unharmed first.
    public var skip = 0
    /// How many of a hundred matching requests it hits, at random.
    public var percent = 100.0
    /// It hits only the last of so many matching requests, again and again.
    public var every = 1
    /// The only registration the rule is about; nil for all.
    public var registration: String?
    /// The only kind of phone the rule is about; nil for all.
    public var platform: DevicePlatform?
    /// How long after it was added the rule begins, in seconds of the emulator's clock.
    public var startsInSeconds = 0.0
    /// How long it lasts from then on, in seconds of the emulator's clock; nil until it is used up or removed.
    public var lastsSeconds: Double?

    /// A rule for the next send.
    public init(_ effect: Effect) { self.effect = effect }
}

/// The error by which a stream is reset (RFC 9113 § 7).
public enum StreamReset: String, Sendable, CaseIterable {
    /// The request was not processed at all: it is safe to repeat.
    case refused = "REFUSED_STREAM"
    /// Nobody knows how far the request came.
    case internalError = "INTERNAL_ERROR"
    /// The answer is not needed any more.
    case cancel = "CANCEL"

    var code: HTTP2ErrorCode {
        switch self {
        case .refused: .refusedStream
        case .internalError: .internalError
        case .cancel: .cancel
        }
    }
}

extension FaultRule {
    /// What the rule does to a request instead of its own answer; nil when it leaves the answer alone.
    func fate(project: String, now: Date) -> Verdict.Fate? {
        let retryAfter = retryAfterDateSeconds.map { HTTPDate.string(now.addingTimeInterval(Double($0))) } ?? self.retryAfter
        switch effect {
        case .none, .goAway: return nil
        case .error(let kind, let status):
            return .reply(Reply(kind.refusal(project: project), status: status, retryAfter: retryAfter))
        case .html(let status): return .reply(.page(status: status, retryAfter: retryAfter))
        case .hang: return .hang
        case .dropConnection: return .dropConnection
        case .resetStream(let reset): return .resetStream(reset)
        }
    }
}
