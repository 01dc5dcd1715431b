internal import CNGHTTP2

/// A request that is sent many times with different bodies. Its header fields are checked and laid out for nghttp2 once.
///
/// Sendable is unchecked: the memory behind the pointers is written in `init`, only read afterwards, and freed in `deinit`.
public final class HTTP2Request: @unchecked Sendable {
    /// Header fields that HTTP/2 does not allow or that the client sets itself.
    private static let reservedNames: Set<String> = [
        "connection", "content-length", "host", "keep-alive", "proxy-connection", "te", "transfer-encoding", "upgrade",
    ]
    /// Methods whose requests carry `content-length` even without a body.
    private static let methodsWithBody: Set<String> = ["POST", "PUT", "PATCH"]

    /// The fields, with `:method` and `:path` first.
    let fields: UnsafeMutableBufferPointer<nghttp2_nv>
    /// Whether the request carries `content-length` even when its body is empty.
    let hasBody: Bool
    private let text: UnsafeMutableBufferPointer<UInt8>

    /// Checks a request and lays out its fields.
    ///
    /// - Parameters:
    ///   - path: The path and the query, percent-encoded; it begins with a slash.
    ///   - headers: The header fields in order; names may have capitals. `content-length` is added.
    /// - Throws: `invalidRequest` when the method, path or a header field is invalid.
    public init(method: String = "POST", path: String, headers: [(String, String)] = []) throws(HTTPClientError) {
        if let fault = Self.fault(method: method, path: path, headers: headers) {
            throw HTTPClientError(.invalidRequest, mayHaveReachedServer: false, fault)
        }
        let pairs = [(":method", method), (":path", path)] + headers.map { ($0.lowercased(), $1) }
        hasBody = Self.methodsWithBody.contains(method)
        text = .allocate(capacity: pairs.reduce(0) { $0 + $1.0.utf8.count + $1.1.utf8.count })
        fields = .allocate(capacity: pairs.count)
        var offset = 0
        func put(_ string: String) -> UnsafeMutableBufferPointer<UInt8> {
            let place = UnsafeMutableBufferPointer(rebasing: text[offset..<offset + string.utf8.count])
            _ = place.initialize(from: string.utf8)
            offset += place.count
            return place
        }
        for (index, pair) in pairs.enumerated() {
            fields.initializeElement(at: index, to: nghttp2_nv(name: put(pair.0), value: put(pair.1)))
        }
    }

    deinit {
        fields.deallocate()
        text.deallocate()
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

extension nghttp2_nv {
    /// Makes a field whose bytes outlive its use, so that nghttp2 need not copy them.
    init(name: UnsafeMutableBufferPointer<UInt8>, value: UnsafeMutableBufferPointer<UInt8>) {
        let flags = NGHTTP2_NV_FLAG_NO_COPY_NAME.rawValue | NGHTTP2_NV_FLAG_NO_COPY_VALUE.rawValue
        self.init(
            name: name.baseAddress, value: value.baseAddress, namelen: name.count, valuelen: value.count, flags: UInt8(flags))
    }
}
