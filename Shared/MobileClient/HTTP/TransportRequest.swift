public import Foundation

/// An HTTP request, as a ``HTTPTransport`` sends it.
public struct TransportRequest: Sendable, Equatable {
    /// The body of a request.
    public enum Body: Sendable, Equatable {
        case none
        case data(Data)
        /// The content of a file, which is read while it is sent.
        case file(URL)
    }

    /// The method in capitals, such as `POST`.
    public var method: String
    /// The whole URL, with its query.
    public var url: URL
    /// The headers; the transport adds the headers of the connection, such as `Host`.
    public var headers: TransportHeaders
    /// The body, if the request has one.
    public var body: Body
    /// The time without a byte of the answer after which the request fails.
    public var timeout: Duration

    /// Creates a request, by default without headers and body and with a timeout of 30 s.
    public init(_ method: String, _ url: URL, headers: TransportHeaders = [:], body: Body = .none, timeout: Duration = .seconds(30)) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.timeout = timeout
    }
}

/// An HTTP answer. Its body is empty where the answer went to a file.
public struct TransportResponse: Sendable, Equatable {
    /// The status code, such as 200.
    public var status: Int
    /// The headers of the answer.
    public var headers: TransportHeaders
    /// The bytes of the body; empty where they went to a file or a stream.
    public var body: Data

    /// Creates an answer, for transports and tests.
    public init(status: Int, headers: TransportHeaders = [:], body: Data = Data()) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}

/// The headers of a request or an answer: one value a name, and names without regard to case (RFC 9110 §5.1).
public struct TransportHeaders: Sendable, Equatable, ExpressibleByDictionaryLiteral {
    /// By names in lower case.
    public private(set) var values: [String: String] = [:]

    /// Creates headers; of names that differ in case only, the last value counts.
    public init(dictionaryLiteral elements: (String, String)...) {
        for (name, value) in elements { self[name] = value }
    }

    /// The value of a header, by its name in any case; nil removes it.
    public subscript(name: String) -> String? {
        get { values[name.lowercased()] }
        set { values[name.lowercased()] = newValue }
    }
}
