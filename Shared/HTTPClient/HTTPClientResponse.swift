/// The response to a request, held in memory.
public struct HTTPClientResponse: Sendable {
    /// The HTTP version of a response.
    public enum Version: Sendable, Equatable {
        case http1, http2
    }

    /// The status code.
    public let status: Int
    /// The header fields, in the order received.
    public let headers: [(name: String, value: String)]
    /// The complete body.
    public let body: [UInt8]
    /// The HTTP version of the response.
    public let httpVersion: Version
    /// The number of connections opened for the request: 0 when one was reused.
    public let connectionsOpened: Int

    /// Makes a response.
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

    /// Returns the value of the first header of that name, case-insensitively.
    public func header(_ name: String) -> String? {
        let wanted = name.lowercased()
        return headers.first { $0.name.lowercased() == wanted }?.value
    }
}
