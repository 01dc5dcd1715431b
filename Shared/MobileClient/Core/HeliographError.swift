/// Says why a call of this module failed: the API's answer (CONTRACT §5), or what kept the client from getting one.
public struct HeliographError: Error, Equatable, CustomStringConvertible {
    /// Why a call failed: the API's `error.code`, or one of the client's own.
    ///
    /// A code that this version does not know keeps its text, so an app compares with the codes that it handles and treats all others
    /// alike.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The text of the code, such as `rate_limited`.
        public let rawValue: String

        /// Creates a code from the API's `error.code`; any text is accepted.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// Why the call failed.
    public let code: Code
    /// One sentence for the log. It contains no data of a person.
    public let message: String
    /// The status of the answer; nil without an answer.
    public let status: Int?
    /// The field of the request that the API refused.
    public let field: String?
    /// The id of the request, with which the operator finds it in the logs.
    public let requestID: String?
    /// The time to wait before another attempt, where the API named one.
    public let retryAfter: Duration?
    /// Whether the same call may succeed later.
    public let isRetryable: Bool
    /// The attempts that are left to enter a code; nil where the API does not say.
    public let attemptsLeft: Int?
    /// The code that was mailed, and that the same call needs (`verification_required`); nil of other errors.
    public let awaitedCode: EKYCSession.AwaitedCode?

    /// Creates an error of the client, or of the parts of an answer; without `isRetryable` another call is taken to fail alike.
    public init(
        _ code: Code, _ message: String, status: Int? = nil, field: String? = nil, requestID: String? = nil, retryAfter: Duration? = nil,
        isRetryable: Bool = false, attemptsLeft: Int? = nil, awaitedCode: EKYCSession.AwaitedCode? = nil
    ) {
        self.code = code
        self.message = message
        self.status = status
        self.field = field
        self.requestID = requestID
        self.retryAfter = retryAfter
        self.isRetryable = isRetryable
        self.attemptsLeft = attemptsLeft
        self.awaitedCode = awaitedCode
    }

    /// Whether the API refuses the proof of the device's key, and not the token of the request.
    var isAboutDeviceKey: Bool { [.useDPoPNonce, .invalidDPoPProof, .deviceKeyRequired].contains(code) }

    /// Whether the device has another key than the sign-in: no repetition helps.
    var isAboutOtherKey: Bool { code == .invalidDPoPProof && field == DPoPProof.keyField }

    /// The code, the message and the id of the request, for the log.
    public var description: String {
        "\(code.rawValue): \(message)" + (requestID.map { " (request \($0))" } ?? "")
    }
}

extension HeliographError.Code {
    // MARK: The client's own

    /// The API could not be reached, or the connection ended; the request may have been handled.
    public static let unreachable = Self(rawValue: "unreachable")
    /// The answer took too long; the request may have been handled.
    public static let timedOut = Self(rawValue: "timed_out")
    /// The task was cancelled.
    public static let cancelled = Self(rawValue: "cancelled")
    /// The answer is not one of this API.
    public static let unexpectedAnswer = Self(rawValue: "unexpected_answer")
    /// The call needs a signed-in person.
    public static let signedOut = Self(rawValue: "signed_out")
    /// A file or a picture cannot be read or written, or the device has no space.
    public static let storage = Self(rawValue: "storage")
    /// An argument breaks a limit of the API; no request was sent.
    public static let invalidArgument = Self(rawValue: "invalid_argument")
}
