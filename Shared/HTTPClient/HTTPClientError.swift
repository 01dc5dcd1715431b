/// Says why there is no response, and whether the server may have acted on the request.
public struct HTTPClientError: Error, CustomStringConvertible {
    /// The kinds of failure.
    public enum Code: String, Sendable {
        /// The request cannot be sent by anybody: bad URL, scheme not allowed, control characters in a header.
        case invalidRequest
        /// The request certainly did not reach the server's application; it is safe to repeat.
        case notSent
        /// The request was sent, at least in part, and its answer was lost.
        case ambiguous
        /// The time was up; ``HTTPClientError/mayHaveReachedServer`` says whether the request was on its way.
        case timeout
        /// The calling task was cancelled.
        case cancelled
        /// The server answered with more than the configured limit.
        case responseTooLarge
        /// The client was shut down before the answer came.
        case shutDown
    }

    /// What kind of failure it is.
    public let code: Code
    /// Whether the server may have acted on the request: repeating it may do it twice.
    public let mayHaveReachedServer: Bool
    /// A sentence for the log; it names the host at most.
    public let message: String
    /// libcurl's own number, where it was libcurl that failed.
    public let curlCode: Int?

    /// Makes an error; for the clients of this package.
    package init(_ code: Code, mayHaveReachedServer: Bool, _ message: String, curlCode: Int? = nil) {
        self.code = code
        self.mayHaveReachedServer = mayHaveReachedServer
        self.message = message
        self.curlCode = curlCode
    }

    /// The code and the message, for logs.
    public var description: String {
        "\(code.rawValue): \(message)" + (curlCode.map { " (curl \($0))" } ?? "")
    }
}
