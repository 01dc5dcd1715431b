public import FoundationEssentials

/// The failure of a generation. It contains no prompt, picture or key: it may be logged, and its code may be stored.
public struct GenerationError: Error, CustomStringConvertible {
    /// The kinds of failure.
    public enum Code: Sendable, Equatable {
        /// The model refuses this picture or prompt permanently.
        case contentBlocked
        /// The model answered without a picture and without a refusal; the call may have been paid for. A retry often
        /// succeeds.
        case noImage
        /// A short-term rate limit is exceeded.
        case rateLimited(retryAfter: Duration)
        /// The daily quota is exhausted. No call was made if this was already known.
        case quotaExhausted(until: Date)
        /// The model is unreachable or failed, or its answer was lost or malformed.
        case unavailable(retryAfter: Duration?)
        /// The model rejects the request, or does not exist.
        case invalidRequest
        /// The key is missing, wrong or lacks the permission.
        case unauthorised
        /// The deadline has passed.
        case timeout
        /// The task was cancelled.
        case cancelled
        /// The source picture cannot be processed, or the generated one is too large.
        case badPicture
    }

    /// The kind of failure.
    public let code: Code
    /// One sentence for the log.
    public let message: String
    /// Whether the call was certainly free: it was refused, or never arrived.
    public let isFree: Bool
    /// The error that caused this one, if any.
    public let underlying: (any Error)?

    /// Creates an error with a message for the log.
    ///
    /// - Parameter isFree: Whether the call was certainly free; false when it is not known.
    public init(_ code: Code, _ message: String, isFree: Bool = false, underlying: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.isFree = isFree
        self.underlying = underlying
    }

    /// Whether a retry of the same request cannot succeed, so that the job fails.
    public var isTerminal: Bool {
        switch code {
        case .contentBlocked, .invalidRequest, .unauthorised, .timeout, .cancelled, .badPicture: true
        case .noImage, .rateLimited, .quotaExhausted, .unavailable: false
        }
    }

    /// Returns the wait before a retry; nil when it is unknown.
    ///
    /// - Parameter now: The current time, from which the wait for a quota reset is computed.
    public func retryAfter(now: Date) -> Duration? {
        switch code {
        case .rateLimited(let wait): wait
        case .unavailable(let wait): wait
        case .quotaExhausted(let until): .seconds(max(0, until.timeIntervalSince(now)))
        default: nil
        }
    }

    /// The code as a short word, for rows, metrics and spans.
    public var word: String {
        switch code {
        case .contentBlocked: "content_blocked"
        case .noImage: "no_image"
        case .rateLimited: "rate_limited"
        case .quotaExhausted: "quota_exhausted"
        case .unavailable: "unavailable"
        case .invalidRequest: "invalid_request"
        case .unauthorised: "unauthorised"
        case .timeout: "timeout"
        case .cancelled: "cancelled"
        case .badPicture: "bad_picture"
        }
    }

    /// The word and the message, for logs.
    public var description: String { "\(word): \(message)" + (underlying.map { " (\($0))" } ?? "") }
}
