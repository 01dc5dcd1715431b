/// A scripted reaction of the emulator to calls, instead of a plain picture.
public struct GeminiBehaviour: Sendable, Equatable {
    /// The effect that the caller sees.
    public enum Effect: Sendable, Equatable {
        /// A picture, as `inlineData`.
        case picture
        /// A picture, spelled as some proxies and SDKs do: `inline_data`, `mime_type`, `finish_reason`.
        case snakeCase
        /// A picture after a thought, which is a picture too, and some text.
        case thought
        /// Text and no picture, with `finishReason` STOP.
        case words
        /// No picture, with that `finishReason`, such as `NO_IMAGE`, `IMAGE_SAFETY` or `MAX_TOKENS`.
        case finish(String)
        /// No candidate, with that `promptFeedback.blockReason`.
        case blocked(String)
        /// No candidate and no reason.
        case nothing
        /// Too many requests in a minute; with RetryInfo, or without any wait.
        case rateLimited(retrySeconds: Double?)
        /// The quota of the day is used up. RetryInfo gives the wait of another limit, as Google does.
        case dailyQuota
        /// An envelope with that status, such as 500, 503 or 504.
        case failure(status: Int, retryAfter: String? = nil)
        /// A front end's page in place of an answer.
        case html(status: Int)
        /// No answer until the caller gives up.
        case hang
        /// The connection is closed before a byte of the answer. The picture was made, and is paid for.
        case cut
        /// The connection is closed in the middle of the answer. The picture was made, and is paid for.
        case cutMidway
        /// An answer with a picture of that many bytes.
        case huge(byteCount: Int)
        /// An answer that is no JSON.
        case garbage
    }

    /// The effect that the caller sees.
    public var effect: Effect
    /// Number of calls it applies to; nil means until it is removed.
    public var count: Int? = 1
    /// The delay of the answer.
    public var latency = Duration.zero
    /// Text that the prompts of matching calls contain; nil matches all.
    public var promptContains: String?

    /// Creates a behaviour, by default for the next call.
    public init(_ effect: Effect, count: Int? = 1, latency: Duration = .zero, promptContains: String? = nil) {
        self.effect = effect
        self.count = count
        self.latency = latency
        self.promptContains = promptContains
    }

    /// Whether the model has done its work, for which Google charges, when the caller sees the effect.
    var isPaid: Bool {
        switch effect {
        case .rateLimited, .dailyQuota, .failure, .html, .blocked: false
        default: true
        }
    }
}
