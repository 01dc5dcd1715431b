internal import HTTPClient
internal import JSON

/// Credentials of AWS: a user's, or the temporary credentials of a role, which have a token.
struct AWSCredentials: Sendable {
    let accessKeyID: String
    let secretAccessKey: String
    let sessionToken: String?

    init(accessKeyID: String, secretAccessKey: String, sessionToken: String?) {
        self.accessKeyID = accessKeyID
        self.secretAccessKey = secretAccessKey
        self.sessionToken = sessionToken
    }

    /// Reads the answer of a container's or a machine's endpoint; nil when it has another form.
    init?(parsing body: [UInt8]) {
        guard let json = try? JSONValue(parsing: body), let id = json["AccessKeyId"]?.string,
            let secret = json["SecretAccessKey"]?.string, let token = json["Token"]?.string
        else { return nil }
        self.init(accessKeyID: id, secretAccessKey: secret, sessionToken: token)
    }
}

/// Where the credentials of AWS come from: the settings, the container (ECS, EKS Pod Identity), or the machine (EC2).
///
/// Source: https://docs.aws.amazon.com/sdkref/latest/guide/feature-container-credentials.html and `…/feature-imds-credentials.html`
enum AWSCredentialSource: Sendable {
    case settings(AWSCredentials)
    /// An endpoint that the platform names, and the value that it requires as `Authorization`.
    case container(url: String, authorization: String?)
    /// The metadata service of the machine, in version 2.
    case machine(endpoint: String)

    /// The addresses at which containers reach the endpoint of ECS or of EKS without TLS; every other one needs TLS.
    private static let plainHosts = ["127.0.0.1", "localhost", "169.254.170.2", "169.254.170.23", "[fd00:ec2::23]"]
    private static let ecsOrigin = "http://169.254.170.2"
    private static let machineOrigin = "http://169.254.169.254"
    private static let timeout = Duration.seconds(5)

    /// Reads `AWS_…`: the keys of a user, else the endpoint that the platform names for the container, else nothing: then the machine's
    /// role is used.
    init(_ settings: Settings) throws(ConfigurationError) {
        let id = try settings.optionalString(
            "AWS_ACCESS_KEY_ID", "an access key", otherwise: "credentials of the role of the container or of the machine",
            about: "its credentials, which need `kms:Decrypt` of the key alone")
        let secret = try settings.optionalString(
            "AWS_SECRET_ACCESS_KEY", "a secret access key", about: "the secret of `AWS_ACCESS_KEY_ID`")
        let token = try settings.optionalString(
            "AWS_SESSION_TOKEN", "a session token", about: "the token of `AWS_ACCESS_KEY_ID`, for the keys of a role")
        let container = try Self.container(settings)
        let machine = try Self.machine(settings)
        if let id {
            guard let secret else {
                throw ConfigurationError("AWS_SECRET_ACCESS_KEY", "is missing", expectation: "the secret of AWS_ACCESS_KEY_ID")
            }
            self = .settings(AWSCredentials(accessKeyID: id, secretAccessKey: secret, sessionToken: token))
        } else {
            self = container ?? machine
        }
    }

    private static func container(_ settings: Settings) throws(ConfigurationError) -> Self? {
        let relative = try settings.optionalString(
            "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "a path", about: "where ECS gives a task its credentials; ECS sets it")
        let name = "AWS_CONTAINER_CREDENTIALS_FULL_URI"
        let expectation = "an https:// URL; http:// is accepted for this machine, ECS and EKS only"
        let full = try settings.optionalString(name, expectation, about: "where a pod gets its credentials; EKS Pod Identity sets it")
        let authorization = try settings.optionalString(
            "AWS_CONTAINER_AUTHORIZATION_TOKEN", about: "what that endpoint asks for; EKS Pod Identity sets the `_FILE`")
        if let relative {
            guard relative.hasPrefix("/") else {
                throw ConfigurationError("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "is not valid", expectation: "a path")
            }
            return .container(url: ecsOrigin + relative, authorization: authorization)
        }
        guard let full else { return nil }
        guard let parts = full.wholeMatch(of: /(https?):\/\/([A-Za-z0-9.\-]+|\[[0-9a-f:]+\])(?::[0-9]{1,5})?\/.*/),
            parts.output.1 == "https" || plainHosts.contains(String(parts.output.2))
        else { throw ConfigurationError(name, "is not valid", expectation: expectation) }
        return .container(url: full, authorization: authorization)
    }

    private static func machine(_ settings: Settings) throws(ConfigurationError) -> Self {
        let name = "AWS_EC2_METADATA_SERVICE_ENDPOINT"
        let expectation = "an http:// URL without a path, of this machine or of the metadata service"
        guard
            let endpoint = try settings.optionalString(
                name, expectation, otherwise: machineOrigin, about: "the metadata service of the machine (EC2)")
        else { return .machine(endpoint: machineOrigin) }
        let hosts = /http:\/\/(127\.0\.0\.1|localhost|169\.254\.169\.254|\[fd00:ec2::254\])(:[0-9]{1,5})?/
        guard endpoint.wholeMatch(of: hosts) != nil else {
            throw ConfigurationError(name, "is not valid", expectation: expectation)
        }
        return .machine(endpoint: endpoint)
    }

    /// Returns credentials, from the settings or of an endpoint.
    func credentials(_ http: HTTPClient) async throws(KeyManagementError) -> AWSCredentials {
        let body: [UInt8]
        switch self {
        case .settings(let credentials): return credentials
        case .container(let url, let authorization):
            body = try await Self.get(url, authorization.map { [("Authorization", $0)] } ?? [], http)
        case .machine(let endpoint):
            let lifetime = (name: "X-aws-ec2-metadata-token-ttl-seconds", value: "300")
            let token = try await Self.send("PUT", endpoint + "/latest/api/token", [lifetime], http)
            let headers = [(name: "X-aws-ec2-metadata-token", value: String(decoding: token, as: UTF8.self))]
            let roles = endpoint + "/latest/meta-data/iam/security-credentials/"
            let role = String(decoding: try await Self.get(roles, headers, http), as: UTF8.self)
            guard role.wholeMatch(of: /[A-Za-z0-9+=,.@_\-]+/) != nil else { throw KeyManagementError("the machine has no role of AWS") }
            body = try await Self.get(roles + role, headers, http)
        }
        guard let credentials = AWSCredentials(parsing: body) else {
            throw KeyManagementError("the endpoint of AWS answers without credentials")
        }
        return credentials
    }

    private static func get(
        _ url: String, _ headers: [(name: String, value: String)], _ http: HTTPClient
    ) async throws(KeyManagementError) -> [UInt8] { try await send("GET", url, headers, http) }

    private static func send(
        _ method: String, _ url: String, _ headers: [(name: String, value: String)], _ http: HTTPClient
    ) async throws(KeyManagementError) -> [UInt8] {
        let response: HTTPClientResponse
        do throws(HTTPClientError) {
            response = try await http.execute(HTTPClientRequest(method: method, url: url, headers: headers, timeout: timeout))
        } catch {
            throw KeyManagementError("AWS_ACCESS_KEY_ID is not set, and no endpoint gives credentials: \(error.code.rawValue)")
        }
        guard response.status == 200 else { throw KeyManagementError("the endpoint of AWS's credentials answers \(response.status)") }
        return response.body
    }
}
