/// One HTTP request, held in memory.
public struct HTTPClientRequest: Sendable {
    /// The method, in capitals.
    public var method: String
    /// The absolute URL, already percent-encoded.
    public var url: String
    /// The header fields, in order; `Host` and `Content-Length` are added.
    public var headers: [(name: String, value: String)]
    /// The body; empty means none, except that POST, PUT and PATCH then say `Content-Length: 0`.
    public var body: [UInt8]
    /// How long everything may take, waiting for a connection included.
    public var timeout: Duration
    /// Whom the request is signed as by Amazon's protocol; nil for everybody else.
    public var awsSignature: AWSSignature?
    /// The most bytes of the response's body; nil means the client's limit.
    public var responseBodyByteCountMax: Int?

    /// Makes a request; the default is a GET that may take 15 seconds.
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

    /// Says what is wrong with the request, or nil: nothing may smuggle a line into the header block.
    package var fault: String? {
        if method.isEmpty || !method.utf8.allSatisfy({ (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) }) {
            return "the method is not a word in capitals"
        }
        if url.isEmpty || !url.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) {
            return "the URL holds something else than visible ASCII"
        }
        for (name, value) in headers {
            if name.isEmpty || !name.utf8.allSatisfy(Self.isTokenByte) { return "a header's name is not a token" }
            if !value.utf8.allSatisfy({ $0 == 0x09 || ($0 >= 0x20 && $0 != 0x7f) }) {
                return "the value of the header \(name) holds a control character"
            }
        }
        guard let awsSignature else { return nil }
        // libcurl would add a type of its own, and sign a line that says to leave it out.
        if !body.isEmpty, !headers.contains(where: { $0.name.lowercased() == "content-type" }) {
            return "a signed request with a body has no Content-Type"
        }
        return awsSignature.fault
    }

    /// Tells whether a byte may stand in a header's name (RFC 9110 §5.6.2).
    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}
