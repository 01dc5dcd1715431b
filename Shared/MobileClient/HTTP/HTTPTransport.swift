public import Foundation

/// Sends HTTP requests. ``URLSessionTransport`` is the one of apps; tests have their own.
public protocol HTTPTransport: Sendable {
    /// Sends a request, and returns its answer with at most `maxBytes` of body; a longer one is refused.
    func send(_ request: TransportRequest, maxBytes: Int) async throws(TransportError) -> TransportResponse

    /// Sends a request, and writes the body of an answer with status 200 to a file, which must not exist.
    ///
    /// The file does not exist after an error. The body of any other answer is returned, as by ``send(_:maxBytes:)``.
    func download(_ request: TransportRequest, to file: URL, maxBytes: Int) async throws(TransportError) -> TransportResponse

    /// Sends a request whose answer is an endless text (server-sent events), and passes on each line as it arrives.
    ///
    /// Returns the answer with an empty body. An answer with a status other than 200 has its body and no line.
    /// - Parameters:
    ///   - request: The request, whose timeout is the longest silence of the answer.
    ///   - onLine: Called for each line, without its end, in order; it returns whether to continue. The call returns when the answer has
    ///     ended or `onLine` has returned false.
    func stream(
        _ request: TransportRequest, onLine: @Sendable (String) async -> Bool
    ) async throws(TransportError) -> TransportResponse
}

/// Says why a request has no answer.
public struct TransportError: Error, Equatable, CustomStringConvertible {
    /// Why a request has no answer.
    public enum Code: String, Sendable {
        /// No connection was made: the request did not reach the API.
        case notConnected
        /// The connection ended before the answer did: the request may have been handled.
        case connectionLost
        case timedOut
        case cancelled
        /// The body of the answer is longer than the caller allows.
        case tooLong
        /// The certificate of the API is not accepted.
        case untrusted
        /// A file of the request or of the answer cannot be read or written.
        case file
        case other
    }

    /// Why the request has no answer, for decisions in code.
    public let code: Code
    /// One sentence for the log.
    public let message: String

    /// Creates an error; `message` is logged, so it must not hold anything of a person.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The code and the message, for the log.
    public var description: String { "\(code.rawValue): \(message)" }
}
