import FoundationEssentials
import NIOHTTP2

/// A fault that the emulator applies to requests: its effect, the requests it matches, and how often it hits them.
public struct FaultRule: Sendable, Equatable {
    /// The endpoint whose requests a rule matches.
    public enum Endpoint: String, Sendable, CaseIterable {
        /// `messages:send`.
        case send
        /// `/token`.
        case token
        /// The mail listener.
        case mail
        /// The keys that ID tokens are signed with.
        case firebaseKeys = "firebase_keys"
    }

    /// The effect that the caller sees.
    public enum Effect: Sendable, Equatable {
        /// No effect other than the delay of the answer.
        case none
        /// An error envelope of FCM, under its usual HTTP status or another.
        case error(FCMFault, status: Int? = nil)
        /// A status with a page of HTML instead of an envelope; 200 is a page that stands between, such as a captive portal's.
        case html(status: Int)
        /// No answer, until the caller gives up.
        case hang
        /// The connection is closed, with everything on it.
        case dropConnection
        /// The stream is reset; under HTTP/1.1 the connection is closed.
        case resetStream(StreamReset = .internalError)
        /// The request is answered as usual, and is the last that its connection serves: GOAWAY refuses requests sent after it,
        /// unprocessed. Under HTTP/1.1 the connection is closed. At `/token` it has no effect.
        case goAway
    }

    /// The effect that the caller sees.
    public var effect: Effect
    /// The endpoint whose requests the rule matches.
    public var endpoint = Endpoint.send
    /// Whether the message is accepted and delivered before the effect, so that only its answer is lost.
    public var isDelivered = false
    /// The `Retry-After` header: seconds, or an HTTP date.
    public var retryAfter: String?
    /// The `Retry-After` header as a date, that number of seconds after the arrival of the request.
    public var retryAfterDateSeconds: Int?
    /// The delay of the answer.
    public var latency = FaultLatency.fixed(.zero)
    /// Number of requests the rule still hits before it is used up; nil means until it is removed.
    public var count: Int? = 1
    /// Number of matching requests that pass unharmed first.
    public var skip = 0
    /// Percentage of matching requests that it hits, at random; with `every`, of the requests that `every` selects.
    public var percent = 100.0
    /// Selects the last of each `every` matching requests.
    public var every = 1
    /// The only registration the rule matches; nil for all.
    public var registration: String?
    /// The step of a mail that the rule matches; for mails only.
    public var step = MailStep.recipient
    /// The only recipient of mails the rule matches, in any case of its letters; nil for all.
    public var recipient: String?
    /// The only kind of phone the rule matches; nil for all.
    public var platform: DevicePlatform?
    /// Time from the addition of the rule to its beginning, in seconds of the emulator's clock.
    public var startsInSeconds = 0.0
    /// Duration of the rule from its beginning, in seconds of the emulator's clock; nil means until it is used up or removed.
    public var lastsSeconds: Double?

    /// Creates a rule for the next send.
    public init(_ effect: Effect) { self.effect = effect }
}

/// The error by which a stream is reset (RFC 9113 § 7).
public enum StreamReset: String, Sendable, CaseIterable {
    /// The request was not processed at all: it is safe to repeat.
    case refused = "REFUSED_STREAM"
    /// The request may or may not have been processed.
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
    /// The outcome that replaces the request's own answer; nil when the rule leaves the answer unchanged.
    func fate(project: String, now: Date) -> RequestOutcome.Fate? {
        let retryAfter = retryAfterDateSeconds.map { IMFFixdate.string(now.addingTimeInterval(Double($0))) } ?? self.retryAfter
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
