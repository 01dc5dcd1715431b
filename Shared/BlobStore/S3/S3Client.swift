internal import FoundationEssentials
internal import HTTPClient
internal import HeliographCrypto
internal import Logging

/// Makes requests of an object store and repeats those that may be repeated, which are all it makes.
struct S3Client: Sendable {
    /// The most bytes of a list or of an error, in which objects are not counted.
    static let answerByteCountMax = 4 * 1024 * 1024
    /// The longest wait between two attempts that a store can ask for.
    private static let retryAfterMax: Duration = .seconds(10)

    /// One request. Its path and query need no encoding but what they have.
    struct Request {
        var method = "GET"
        /// The key of an object; nil stands for the bucket.
        var key: BlobKey?
        /// Sorted by name, values encoded, as the signature asks for.
        var query = ""
        var headers: [(name: String, value: String)] = []
        var body: [UInt8] = []
        /// The most bytes of an answer's body.
        var answerByteCountMax = S3Client.answerByteCountMax
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

    /// Returns the answer to a request once it is a success.
    ///
    /// - Throws: `notFound` when there is no such object, `tooLarge` when the answer is, else `unavailable`.
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
            guard failure.isPassing, attempt < configuration.attemptsMax else { throw failure.error(request) }
            let backoff = configuration.retryDelay * Double.random(in: 0.5...1) * (1 << (attempt - 1))
            do {
                try await Task.sleep(for: max(backoff, min(failure.retryAfter ?? .zero, Self.retryAfterMax)))
            } catch {
                throw BlobStoreError(.unavailable, "the work was cancelled", underlying: error)
            }
            attempt += 1
        }
    }

    private func signed(_ request: Request) -> HTTPClientRequest {
        let path = request.key.map { "\(root)/\($0.name)" } ?? root
        // The digest has to be there: libcurl signs what it says, and stores refuse requests without it.
        let digest = ("x-amz-content-sha256", Hex.encode(SHA256.hash(request.body)))
        var signed = HTTPClientRequest(
            method: request.method, url: request.query.isEmpty ? path : "\(path)?\(request.query)",
            headers: request.headers + [digest], body: request.body, timeout: configuration.timeout)
        signed.awsSignature = signature
        signed.responseBodyByteCountMax = max(request.answerByteCountMax, 64 * 1024)
        return signed
    }
}
