internal import FoundationEssentials
internal import HTTPClient

/// The reason why a request to an object store failed.
struct S3Failure {
    /// The store's error code, such as `NoSuchKey` or `SlowDown`; the client's error code when there was no response.
    let code: String
    private let status: Int?
    /// The wait that the store asks for.
    let retryAfter: Duration?
    private let underlying: HTTPClientError?

    init(_ response: HTTPClientResponse) {
        status = response.status
        code = S3Document(response.body).text(of: "Code").map(Self.sanitised) ?? "without a code"
        retryAfter = response.retryAfter(now: Date(), max: .seconds(60))
        underlying = nil
    }

    init(_ error: HTTPClientError) {
        (status, code, retryAfter, underlying) = (nil, error.code.rawValue, nil, error)
    }

    /// Whether the same request may succeed in a moment.
    var isTransient: Bool {
        guard let status else {
            return switch underlying?.code {
            case .notSent, .ambiguous, .timeout: true
            default: false
            }
        }
        // Not implemented (501) is permanent.
        return (status >= 500 && status != 501) || status == 429 || ["SlowDown", "RequestTimeout", "InternalError"].contains(code)
    }

    /// Returns the error for the caller. Some stores answer a HEAD or a proxied GET without a body, so a 404 without a code to a
    /// request for an object means that object.
    func error(_ request: S3Client.Request) -> BlobStoreError {
        let object = request.key.map { "\($0)" } ?? "the bucket"
        if underlying?.code == .responseTooLarge {
            return BlobStoreError(.tooLarge, "\(object) has more than \(request.maxResponseByteCount) bytes")
        }
        if status == 404, request.key != nil, code != "NoSuchBucket" {
            return BlobStoreError(.notFound, "there is no \(object)")
        }
        if status == 412 { return BlobStoreError(.notFound, "\(object) was deleted or replaced meanwhile") }
        let answer = status.map { "HTTP \($0) \(code)" } ?? code
        return BlobStoreError(.unavailable, "\(request.method) of \(object) failed: \(answer)", underlying: underlying)
    }

    /// Limits an external text to 64 harmless characters, because it is logged.
    private static func sanitised(_ text: String) -> String {
        String(text.prefix(64).map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "?" })
    }
}
