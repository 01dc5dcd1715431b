/// A request that is sent many times with different bodies. Its header fields are checked once.
public final class HTTP2Request: Sendable {
    /// The most bytes of its header fields, with 32 for each: servers refuse more than some 16 KiB, with the authority.
    private static let maxFieldsByteCount = 15 * 1024
    /// Header fields that HTTP/2 does not allow or that the client sets itself.
    private static let reservedNames: Set<String> = [
        "connection", "content-length", "host", "keep-alive", "proxy-connection", "te", "transfer-encoding", "upgrade",
    ]
    /// Methods whose requests carry `content-length` even without a body.
    private static let methodsWithBody: Set<String> = ["POST", "PUT", "PATCH"]

    /// The fields, with `:method` and `:path` first.
    private let fields: HeaderFields
    /// Whether the request carries `content-length` even when its body is empty.
    private let hasBody: Bool

    /// Checks a request.
    ///
    /// - Parameters:
    ///   - path: The path and the query, percent-encoded; it begins with a slash.
    ///   - headers: The header fields in order; names may have capitals. `content-length` is added.
    /// - Throws: `invalidRequest` when the method, path or a header field is invalid, or the fields are too large.
    public init(method: String = "POST", path: String, headers: [(String, String)] = []) throws(HTTPClientError) {
        if let fault = Self.fault(method: method, path: path, headers: headers) {
            throw HTTPClientError(.invalidRequest, mayHaveReachedServer: false, fault)
        }
        fields = HeaderFields([(":method", method), (":path", path)] + headers.map { ($0.lowercased(), $1) })
        hasBody = Self.methodsWithBody.contains(method)
        guard fields.listByteCount <= Self.maxFieldsByteCount else {
            let fault = "the header fields are larger than \(Self.maxFieldsByteCount) bytes"
            throw HTTPClientError(.invalidRequest, mayHaveReachedServer: false, fault)
        }
    }

    /// Returns all fields of a request to an origin. The pseudo-header fields are first (RFC 9113 §8.3).
    func fields(to origin: HTTP2Origin, bodyByteCount: Int) -> HeaderFields {
        var all = origin.fields
        all.append(fields)
        if bodyByteCount > 0 || hasBody { all.append("content-length", "\(bodyByteCount)") }
        return all
    }

    private static func fault(method: String, path: String, headers: [(String, String)]) -> String? {
        guard path.hasPrefix("/") else { return "the path does not begin with a slash" }
        if let name = headers.first(where: { reservedNames.contains($0.0.lowercased()) })?.0 {
            return "the header \(name) must not be set by the caller"
        }
        let url = "https://host" + path
        return HTTPClientRequest(method: method, url: url, headers: headers.map { (name: $0, value: $1) }).fault
    }
}
