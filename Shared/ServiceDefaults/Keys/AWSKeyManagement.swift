internal import AsyncPrimitives
internal import HTTPClient
internal import HeliographCrypto
internal import JSON
public import Logging

/// The key management service of Amazon (AWS KMS): its call `Decrypt`, signed with AWS Signature Version 4.
///
/// Each encrypted secret has the encryption context `heliograph=<setting>`. Source:
/// https://docs.aws.amazon.com/kms/latest/APIReference/API_Decrypt.html
public struct AWSKeyManagement: KeyManagement {
    /// The name of the encryption context.
    static let contextName = "heliograph"
    /// The most attempts of a call.
    private static let maxAttempts = 4
    private static let retryDelay = Backoff(min: .milliseconds(200), max: .seconds(2))

    private let endpoint: String
    private let region: String
    private let credentials: AWSCredentialSource
    private let http: HTTPClient

    /// Reads `AWS_…` and creates a client, which connects on first use.
    ///
    /// - Throws: ``ConfigurationError`` for the first setting that is missing or wrong.
    public init(_ settings: Settings, logger: Logger) throws(ConfigurationError) {
        let region = try settings.string("AWS_REGION", "a region, such as eu-central-1", about: "the region of AWS KMS")
        let expectation = "an https:// URL without a path; http:// is accepted for this machine only"
        let endpoint =
            try settings.optionalString(
                "AWS_KMS_ENDPOINT", expectation, otherwise: "Amazon's of the region", about: "where AWS KMS is reached")
            ?? "https://kms.\(region).amazonaws.com"
        guard endpoint.wholeMatch(of: /(https:\/\/[A-Za-z0-9.\-]+|http:\/\/(127\.0\.0\.1|localhost))(:[0-9]{1,5})?/) != nil else {
            throw ConfigurationError("AWS_KMS_ENDPOINT", "is not valid", expectation: expectation)
        }
        credentials = try AWSCredentialSource(settings)
        var configuration = HTTPClientConfiguration()
        // The endpoints of containers and machines have no TLS; which URLs may be plain is checked above and in AWSCredentialSource.
        configuration.allowedSchemes = ["http", "https"]
        configuration.maxResponseBodyByteCount = 64 * 1024
        self.endpoint = endpoint + "/"
        self.region = region
        http = HTTPClient(configuration: configuration, logger: logger)
    }

    /// See ``KeyManagement/unwrap(_:of:)``.
    public func unwrap(_ wrapped: [UInt8], of setting: String) async throws(KeyManagementError) -> String {
        let body = JSONWriter.bytes { json in
            json.object { json in
                json.member("CiphertextBlob", Base64.encode(wrapped))
                json.object("EncryptionContext") { $0.member(Self.contextName, setting) }
            }
        }
        let answer = try await call("TrentService.Decrypt", body)
        guard let text = answer["Plaintext"]?.string, let bytes = Base64.decode(text), let secret = String(validating: bytes, as: UTF8.self)
        else { throw KeyManagementError("AWS KMS answers without a text") }
        return secret.split(separator: "\n", maxSplits: 1).first.map(String.init) ?? ""
    }

    /// Closes the connections.
    public func shutdown() async { await http.shutdown() }

    private func call(_ target: String, _ body: [UInt8]) async throws(KeyManagementError) -> JSONValue {
        let request = try await request(target, body)
        var attempt = 1
        while true {
            let failure: String
            var isTransient = true
            do throws(HTTPClientError) {
                let response = try await http.execute(request)
                let json = try? JSONValue(parsing: response.body)
                if response.status == 200, let json { return json }
                failure = "AWS KMS answers \(response.status) \(Self.errorName(json))"
                isTransient = response.status >= 500 || response.status == 429
            } catch {
                failure = "AWS KMS cannot be reached: \(error.code.rawValue)"
            }
            guard isTransient, attempt < Self.maxAttempts, !Task.isCancelled else { throw KeyManagementError(failure) }
            try? await Task.sleep(for: Self.retryDelay.delay(afterFailures: attempt))
            attempt += 1
        }
    }

    /// Returns a signed request. Credentials of a role last for minutes, and keys are opened at the start only, so no credentials are
    /// cached.
    private func request(_ target: String, _ body: [UInt8]) async throws(KeyManagementError) -> HTTPClientRequest {
        let credentials = try await credentials.credentials(http)
        var headers = [
            (name: "Content-Type", value: "application/x-amz-json-1.1"), (name: "X-Amz-Target", value: target),
            // libcurl uses this digest for the signature.
            (name: "x-amz-content-sha256", value: Hex.encode(SHA256.hash(body))),
        ]
        if let token = credentials.sessionToken { headers.append((name: "X-Amz-Security-Token", value: token)) }
        var request = HTTPClientRequest(method: "POST", url: endpoint, headers: headers, body: body, timeout: .seconds(10))
        request.awsSignature = AWSSignature(
            region: region, service: "kms", accessKeyID: credentials.accessKeyID, secretAccessKey: credentials.secretAccessKey)
        return request
    }

    /// The name of an error, such as `InvalidCiphertextException`, limited to harmless characters, because it is printed.
    private static func errorName(_ json: JSONValue?) -> String {
        let name = json?["__type"]?.string?.split(separator: "#").last ?? "without a name"
        return String(name.prefix(64).filter { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == " ") })
    }
}
