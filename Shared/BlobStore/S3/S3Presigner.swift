internal import FoundationEssentials
internal import HeliographCrypto

/// Makes presigned URLs, which let their holder read one object until they expire: AWS Signature Version 4 in the query.
///
/// libcurl signs only the requests that it sends itself.
struct S3Presigner: Sendable {
    /// The longest lifetime of a link: seven days, Amazon's limit.
    static let maxSeconds = 604_800

    private let origin: String
    private let host: String
    private let region: String
    private let accessKeyID: String
    private let secretAccessKey: String

    /// - Parameter endpoint: Scheme, host and port; the host is signed.
    init(endpoint: String, region: String, accessKeyID: String, secretAccessKey: String) {
        origin = endpoint.hasSuffix("/") ? String(endpoint.dropLast()) : endpoint
        let isSecure = endpoint.hasPrefix("https://")
        let authority = String(origin.dropFirst(isSecure ? 8 : 7)).lowercased()
        // HTTP clients leave the default port out of the Host header.
        let port = isSecure ? ":443" : ":80"
        host = authority.hasSuffix(port) ? String(authority.dropLast(port.count)) : authority
        self.region = region
        self.accessKeyID = accessKeyID
        self.secretAccessKey = secretAccessKey
    }

    /// Returns a link that reads the object at a path.
    ///
    /// - Parameters:
    ///   - path: The path; it begins with a slash and has no characters that need encoding.
    ///   - seconds: The lifetime of the link from `now`; clamped to 1…``maxSeconds``.
    ///   - overrides: Header fields of the store's response, such as `("response-expires", …)`, sorted by name.
    func link(toPath path: String, seconds: Int, now: Date, overrides: [(String, String)] = []) -> String {
        let time = Self.timestamp(now)
        let scope = "\(time.prefix(8))/\(region)/s3/aws4_request"
        let signing = [
            ("X-Amz-Algorithm", "AWS4-HMAC-SHA256"), ("X-Amz-Credential", "\(accessKeyID)/\(scope)"), ("X-Amz-Date", time),
            ("X-Amz-Expires", "\(min(max(1, seconds), Self.maxSeconds))"), ("X-Amz-SignedHeaders", "host"),
        ]
        // The signature requires the query in byte order: capitals sort before small letters.
        let query = (signing + overrides).map { "\($0.0)=\(Self.encoded($0.1))" }.joined(separator: "&")
        let request = "GET\n\(path)\n\(query)\nhost:\(host)\n\nhost\nUNSIGNED-PAYLOAD"
        let text = "AWS4-HMAC-SHA256\n\(time)\n\(scope)\n\(Hex.encode(SHA256.hash(request)))"
        var key = Array("AWS4\(secretAccessKey)".utf8)
        for part in [String(time.prefix(8)), region, "s3", "aws4_request"] {
            key = HMACSHA256.authenticate(Array(part.utf8), key: key)
        }
        let signature = Hex.encode(HMACSHA256.authenticate(Array(text.utf8), key: key))
        return "\(origin)\(path)?\(query)&X-Amz-Signature=\(signature)"
    }

    /// Formats a time as `20130524T000000Z`.
    static func timestamp(_ time: Date) -> String {
        time.formatted(Date.ISO8601FormatStyle(dateSeparator: .omitted, timeSeparator: .omitted))
    }

    /// Percent-encodes all but Amazon's unreserved characters.
    static func encoded(_ text: String) -> String {
        text.utf8.reduce(into: "") { output, byte in
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"):
                output.append(Character(Unicode.Scalar(byte)))
            default:
                output += "%" + Hex.encode([byte]).uppercased()
            }
        }
    }
}
