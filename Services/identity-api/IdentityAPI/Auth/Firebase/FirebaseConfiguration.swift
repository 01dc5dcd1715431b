internal import FoundationEssentials
internal import HTTPClient
internal import ServiceDefaults
internal import ServiceLifecycle

/// The Firebase project whose ID tokens are accepted, and where Google's keys are.
struct FirebaseConfiguration: Sendable {
    let project: FirebaseProject
    var keysURL = JWKSClient.googleURL
    var caFile: String?
    var keyLimits = SigningKeyLimits()
    /// The time limit of a fetch of the keys.
    var fetchTimeout = Duration.seconds(5)
    /// Returns the time that tokens are compared with; tests replace it.
    var now: @Sendable () -> Date = { Date() }

    init(project: FirebaseProject) { self.project = project }

    /// Reads the settings; nil when no project is set.
    init?(_ settings: Settings) throws(ConfigurationError) {
        let (name, expectation) = ("FIREBASE_AUTH_PROJECT_ID", "the id of a Firebase project")
        let project = try settings.optionalString(
            name, expectation, about: "the project whose ID tokens are accepted as bearer tokens; none means that none are")
        let (urlName, urlExpectation) = ("FIREBASE_AUTH_KEYS_URL", "an https:// URL; http:// is accepted for this machine only")
        let url = try settings.optionalString(
            urlName, urlExpectation, otherwise: "Google's", about: "where Google's keys for ID tokens are; for the emulator only")
        caFile = try settings.authorities("FIREBASE_AUTH_CA_FILE", about: "for the emulator only")
        guard let project else { return nil }
        guard FirebaseProject.isID(project) else { throw ConfigurationError(name, "is not valid", expectation: expectation) }
        self.project = FirebaseProject(id: project)
        guard let url else { return }
        if HTTPEndpoint.fault(in: url) != nil { throw ConfigurationError(urlName, "is not valid", expectation: urlExpectation) }
        keysURL = url
    }

    private var httpClient: HTTPClientConfiguration {
        var http = HTTPClientConfiguration()
        http.maxResponseBodyByteCount = JWKSClient.maxBytes
        http.caFile = caFile
        http.connectTimeout = fetchTimeout
        if keysURL.hasPrefix("http://") { http.allowedSchemes.insert("http") }
        return http
    }

    /// Makes the client and the source of Google's keys, which are services, and the authenticator that uses them.
    func make(_ context: ServiceContext, keys: AccountKeys) -> (authenticator: FirebaseAuthenticator, services: [any Service]) {
        let http = HTTPClient(configuration: httpClient, logger: context.logger)
        let server = JWKSClient(url: keysURL, http: http, timeout: fetchTimeout)
        let source = SigningKeySource(limits: keyLimits, clock: context.clock, logger: context.logger) { try await server.fetch() }
        let authenticator = FirebaseAuthenticator(
            verifier: FirebaseTokenVerifier(project: project, keys: source), postgres: context.postgres, keys: keys,
            logger: context.logger, now: now)
        return (authenticator, [http, source])
    }
}
