internal import FoundationEssentials
internal import HTTPClient

/// Why a request of an object store was no success.
struct S3Failure {
    /// The store's word for it, such as `NoSuchKey` or `SlowDown`; the kind of fault when there was no answer.
    let code: String
    private let status: Int?
    /// How long the store asks to wait.
    let retryAfter: Duration?
    private let underlying: HTTPClientError?

    init(_ response: HTTPClientResponse) {
        status = response.status
        code = S3Document(response.body).text(of: "Code").map(Self.word) ?? "without a code"
        retryAfter = response.retryAfter(now: Date(), max: .seconds(60))
        underlying = nil
    }

    init(_ error: HTTPClientError) {
        (status, code, retryAfter, underlying) = (nil, error.code.rawValue, nil, error)
    }

    /// Whether the same request may succeed in a moment.
    var isPassing: Bool {
        guard let status else {
            return switch underlying?.code {
            case .notSent, .ambiguous, .timeout: true
            default: false
            }
        }
        // What a store has not learned (501) it will not learn in a moment.
        return (status >= 500 && status != 501) || status == 429 || ["SlowDown", "RequestTimeout", "InternalError"].contains(code)
    }

    /// What it means for whoever asked. Some stores answer a HEAD or a proxied GET without a body, so a bare 404 to a request
    /// for an object means that object.
    func error(_ request: S3Client.Request) -> BlobStoreError {
        let object = request.key.map { "\($0)" } ?? "the bucket"
        if underlying?.code == .responseTooLarge {
            return BlobStoreError(.tooLarge, "\(object) has more than \(request.answerByteCountMax) bytes")
        }
        if status == 404, request.key != nil, code != "NoSuchBucket" {
            return BlobStoreError(.notFound, "there is no \(object)")
        }
        let answer = status.map { "HTTP \($0) \(code)" } ?? code
        return BlobStoreError(.unavailable, "the store did not \(request.method) \(object): \(answer)", underlying: underlying)
    }

    /// Keeps what comes from outside short and harmless, as it is logged.
    private static func word(_ text: String) -> String {
        String(text.prefix(64).map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "?" })
    }
}
