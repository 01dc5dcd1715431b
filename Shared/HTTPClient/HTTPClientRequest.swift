/// One HTTP request, held in memory.
public struct HTTPClientRequest: Sendable {
    /// The method, in capitals.
    public var method: String
    /// The absolute URL, already percent-encoded.
    public var url: String
    /// The header fields, in order; `Host` and `Content-Length` are added.
    public var headers: [(name: String, value: String)]
    /// The body; empty means no body, except that POST, PUT and PATCH then carry `Content-Length: 0`.
    public var body: [UInt8]
    /// The time limit of the request, including the wait for a connection.
    public var timeout: Duration
    /// The credentials of AWS Signature Version 4; nil for an unsigned request.
    public var awsSignature: AWSSignature?
    /// The most bytes of the response's body; nil means the client's limit.
    public var maxResponseBodyByteCount: Int?

    /// Makes a request; the default is a GET with a timeout of 15 seconds.
    public init(
        method: String = "GET", url: String, headers: [(name: String, value: String)] = [], body: [UInt8] = [],
        timeout: Duration = .seconds(15)
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.timeout = timeout
    }

    /// The fault of the request, or nil when it is valid. Prevents header injection.
    var fault: String? {
        if method.isEmpty || !method.utf8.allSatisfy({ (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) }) {
            return "the method is not a word in capitals"
        }
        if url.isEmpty || !url.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) {
            return "the URL contains other characters than visible ASCII"
        }
        for (name, value) in headers {
            if name.isEmpty || !name.utf8.allSatisfy(Self.isTokenByte) { return "the name of a header is not a token" }
            if !value.utf8.allSatisfy({ $0 == 0x09 || ($0 >= 0x20 && $0 != 0x7f) }) {
                return "the value of the header \(name) contains a control character"
            }
        }
        guard let awsSignature else { return nil }
        // libcurl would add its own Content-Type, and an option line that removes it would be signed as well.
        if !body.isEmpty, !headers.contains(where: { $0.name.lowercased() == "content-type" }) {
            return "a signed request with a body has no Content-Type"
        }
        return awsSignature.fault
    }

    /// Returns whether a byte is allowed in a header name (RFC 9110 §5.6.2).
    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}
