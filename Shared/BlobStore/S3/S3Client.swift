internal import AsyncPrimitives
internal import FoundationEssentials
internal import HTTPClient
internal import HeliographCrypto
internal import Logging

/// Sends requests to an object store and retries transient failures; all its requests are idempotent.
struct S3Client: Sendable {
    /// The most bytes of a list or an error body; objects have a limit of their own.
    static let maxResponseByteCount = 4 * 1024 * 1024
    /// The longest `Retry-After` of a store that is respected.
    private static let maxRetryAfter: Duration = .seconds(10)
    /// The longest delay before a retry, unless the store asks for one.
    private static let maxBackoff: Duration = .seconds(10)

    /// One request. Its path and query are already encoded.
    struct Request {
        var method = "GET"
        /// The key of an object; nil stands for the bucket.
        var key: BlobKey?
        /// The query, sorted by name and with encoded values, as the signature requires.
        var query = ""
        var headers: [(name: String, value: String)] = []
        var body: [UInt8] = []
        /// The most bytes of the response's body.
        var maxResponseByteCount = S3Client.maxResponseByteCount
    }

    private let configuration: S3Configuration
    private let http: HTTPClient
    private let signature: AWSSignature
    private let root: String

    init(configuration: S3Configuration, logger: Logger) {
        self.configuration = configuration
        http = HTTPClient(configuration: configuration.httpClient, logger: logger)
        signature = AWSSignature(
            region: configuration.region, service: "s3", accessKeyID: configuration.accessKeyID,
            secretAccessKey: configuration.secretAccessKey)
        let endpoint = configuration.endpoint
        root = (endpoint.hasSuffix("/") ? endpoint : endpoint + "/") + configuration.bucket
    }

    /// Sends a request, with retries, and returns its successful response.
    ///
    /// - Throws: `notFound` when there is no such object, `tooLarge` when the response exceeds its limit, else `unavailable`.
    func send(_ request: Request) async throws(BlobStoreError) -> HTTPClientResponse {
        var attempt = 1
        while true {
            let failure: S3Failure
            do throws(HTTPClientError) {
                let response = try await http.execute(signed(request))
                if (200..<300).contains(response.status) { return response }
                failure = S3Failure(response)
            } catch {
                failure = S3Failure(error)
            }
            guard failure.isTransient, attempt < configuration.maxAttempts else { throw failure.error(request) }
            let backoff = Backoff(min: configuration.retryDelay, max: Self.maxBackoff).delay(afterFailures: attempt)
            do {
                try await Task.sleep(for: max(backoff, min(failure.retryAfter ?? .zero, Self.maxRetryAfter)))
            } catch {
                throw BlobStoreError(.unavailable, "the work was cancelled", underlying: error)
            }
            attempt += 1
        }
    }

    private func signed(_ request: Request) -> HTTPClientRequest {
        let path = request.key.map { "\(root)/\($0.name)" } ?? root
        // libcurl uses this digest for the signature, and stores refuse requests without it.
        let digest = ("x-amz-content-sha256", Hex.encode(SHA256.hash(request.body)))
        var signed = HTTPClientRequest(
            method: request.method, url: request.query.isEmpty ? path : "\(path)?\(request.query)",
            headers: request.headers + [digest], body: request.body, timeout: configuration.timeout)
        signed.awsSignature = signature
        signed.maxResponseBodyByteCount = max(request.maxResponseByteCount, 64 * 1024)
        return signed
    }
}
