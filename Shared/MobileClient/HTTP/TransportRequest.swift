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

    public var method: String
    public var url: URL
    public var headers: TransportHeaders
    public var body: Body
    /// The time without a byte of the answer after which the request fails.
    public var timeout: Duration

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
    public var status: Int
    public var headers: TransportHeaders
    public var body: Data

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

    public init(dictionaryLiteral elements: (String, String)...) {
        for (name, value) in elements { self[name] = value }
    }

    public subscript(name: String) -> String? {
        get { values[name.lowercased()] }
        set { values[name.lowercased()] = newValue }
    }
}
