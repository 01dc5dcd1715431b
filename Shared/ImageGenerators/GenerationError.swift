public import FoundationEssentials

/// Says why there is no picture, without prompts, pictures or keys: it may be logged, and its code may be stored.
public struct GenerationError: Error, CustomStringConvertible {
    /// The kinds of failure.
    public enum Code: Sendable, Equatable {
        /// The model refuses this picture or this prompt, and always will.
        case contentBlocked
        /// The model answered without a picture and without a refusal; the call may have been paid for. Asking again
        /// often helps.
        case noImage
        /// Too many calls at the moment.
        case rateLimited(retryAfter: Duration)
        /// The quota of a day is used up. No call was made if it was known before.
        case quotaExhausted(until: Date)
        /// The model is not there, or failed, or its answer was lost or makes no sense.
        case unavailable(retryAfter: Duration?)
        /// The model does not take such a request, or there is no such model.
        case invalidRequest
        /// The key is missing, wrong or not allowed to do this.
        case unauthorised
        /// The deadline is over.
        case timeout
        /// The task was cancelled.
        case cancelled
        /// The picture cannot be worked on, or the one that came back is too large.
        case badPicture
    }

    /// What kind of failure it is.
    public let code: Code
    /// One sentence for the log.
    public let message: String
    /// Whether the call certainly cost nothing: it was turned away, or never arrived.
    public let isFree: Bool
    /// What caused it, if something else did.
    public let underlying: (any Error)?

    /// Makes an error of its kind and a sentence for the log.
    ///
    /// - Parameter isFree: Whether the call certainly cost nothing; it may have when that is not known.
    public init(_ code: Code, _ message: String, isFree: Bool = false, underlying: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.isFree = isFree
        self.underlying = underlying
    }

    /// Whether the same request can never succeed, so that the job has failed.
    public var isTerminal: Bool {
        switch code {
        case .contentBlocked, .invalidRequest, .unauthorised, .timeout, .cancelled, .badPicture: true
        case .noImage, .rateLimited, .quotaExhausted, .unavailable: false
        }
    }

    /// How long to wait before asking again, as far as it is known.
    ///
    /// - Parameter now: the time, for a quota that comes back at a certain moment.
    public func retryAfter(now: Date) -> Duration? {
        switch code {
        case .rateLimited(let wait): wait
        case .unavailable(let wait): wait
        case .quotaExhausted(let until): .seconds(max(0, until.timeIntervalSince(now)))
        default: nil
        }
    }

    /// A short word for rows, metrics and spans.
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
