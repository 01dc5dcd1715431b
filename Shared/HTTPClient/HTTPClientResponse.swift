/// The answer to a request, held in memory.
public struct HTTPClientResponse: Sendable {
    /// The version of HTTP an answer came by.
    public enum Version: Sendable, Equatable {
        case http1, http2
    }

    /// The status code.
    public let status: Int
    /// The header fields in the order they came.
    public let headers: [(name: String, value: String)]
    /// The body, complete.
    public let body: [UInt8]
    /// The version of HTTP it came by.
    public let httpVersion: Version
    /// How many connections were opened for the request: 0 when one was reused.
    public let connectionsOpened: Int

    /// Makes a response, for tests of code that takes one.
    public init(
        status: Int, headers: [(name: String, value: String)] = [], body: [UInt8] = [], httpVersion: Version = .http2,
        connectionsOpened: Int = 0
    ) {
        self.status = status
        self.headers = headers
        self.body = body
        self.httpVersion = httpVersion
        self.connectionsOpened = connectionsOpened
    }

    /// Returns the value of the first header of that name, whatever the case of its letters.
    public func header(_ name: String) -> String? {
        let wanted = name.lowercased()
        return headers.first { $0.name.lowercased() == wanted }?.value
    }
}
