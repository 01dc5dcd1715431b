/// The reason why there is no response, and whether the server may have acted on the request.
public struct HTTPClientError: Error, CustomStringConvertible {
    /// The kinds of failure.
    public enum Code: String, Sendable {
        /// The request is invalid: bad URL, scheme not allowed, control characters in a header.
        case invalidRequest
        /// The request certainly did not reach the server's application; it is safe to retry.
        case notSent
        /// The request was sent, at least in part, and its response was lost.
        case ambiguous
        /// The request timed out; ``HTTPClientError/mayHaveReachedServer`` says whether it may have been sent.
        case timeout
        /// The calling task was cancelled.
        case cancelled
        /// The response is larger than the configured limit.
        case responseTooLarge
        /// The client was shut down before the response came.
        case shutDown
    }

    /// The kind of failure.
    public let code: Code
    /// Whether the server may have acted on the request, so that a retry may do it twice.
    public let mayHaveReachedServer: Bool
    /// A sentence for the log; of the request it names at most the host.
    public let message: String
    /// libcurl's error code, when libcurl failed.
    public let curlCode: Int?

    /// Makes an error; for the clients of this module.
    init(_ code: Code, mayHaveReachedServer: Bool, _ message: String, curlCode: Int? = nil) {
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
