internal import EventBus
internal import FCM
internal import FoundationEssentials
internal import HTTPClient
internal import ServiceDefaults
internal import Storage

/// The settings of the notifier.
///
/// - `FCM_CREDENTIALS` (`file` or `metadata`, default `file`): whether access tokens are obtained with a key file, or from the
///   metadata server of the machine or pod in Google's cloud, for the service account it runs as.
/// - `GOOGLE_APPLICATION_CREDENTIALS` (path, required with `file`): the service account's key file.
/// - `FIREBASE_PROJECT_ID`, `FIREBASE_CLIENT_EMAIL`, `FIREBASE_PRIVATE_KEY`: the parts of a key file, in place of the two above.
/// - `GOOGLE_CLOUD_PROJECT` (required with `metadata`): the id of the Firebase project; a key file contains it.
/// - `GCE_METADATA_HOST` (host, default Google's): the metadata server.
/// - `FCM_BASE_URL` (URL, default `https://fcm.googleapis.com`): the URL of FCM.
/// - `FCM_TOKEN_URL` (URL, default Google's): the token endpoint.
/// - `FCM_CA_FILE` (path, default the system's authorities): the certificate authorities to trust instead.
/// - `FCM_QUOTA_PER_MINUTE` (1000 to 100,000,000, default 600,000): the project's FCM quota; four fifths of it are used.
/// - `FCM_BULK_RAMP_SECONDS` (0 to 600, default 60): how long the bulk lane takes from a standing start to its full rate.
/// - `FCM_CONNECTIONS` (1 to 8, default 8): the most connections to FCM; each carries up to 100 pushes at once.
/// - `FCM_CANARY` (default none): a registration token or installation id for the regular check of FCM (``Canary``).
/// - `FCM_CANARY_SECONDS` (1 to 3600, default 60): the interval of that check.
/// - `NOTIFY_MAX_ATTEMPTS` (1 to 20, default 12): the most attempts of a push; 1 means no retry.
/// - `NOTIFY_RETRY_SECONDS` (default 10, the least that FCM asks for): the wait before the first retry.
/// - `CONSUMER_CONCURRENCY` (1 to 64, default 8): the events of a lane that are handled at once.
struct NotifierConfiguration: Sendable {
    /// The share of FCM's quota that is used: client errors and other senders of the project use it too.
    private static let quotaShare = 0.8
    /// The share of the streams that may be in use: the rest is reserved for streams that are being closed.
    private static let streamShare = 0.8
    /// The most bytes of an answer; FCM's have a few hundred.
    private static let maxResponseByteCount = 64 * 1024

    /// The source of access tokens.
    enum Credentials: Sendable {
        case key(ServiceAccountKey)
        case metadata(host: String?)
    }

    let credentials: Credentials
    let projectID: String
    let fcm: FCMConfiguration
    let tokenURL: String?
    /// The client for access tokens.
    let httpClient: HTTPClientConfiguration
    let retryPolicy: PushRetryPolicy
    let consumer: EventConsumerConfiguration
    let quota: PushQuotaLimits
    /// Nil when no canary is configured.
    let canary: Canary.Configuration?
    /// The most pushes in flight.
    let maxInFlight: Int
    let limits = DeliveryLimits()

    init(_ settings: Settings) throws(ConfigurationError) {
        (credentials, projectID) = try Self.readCredentials(settings)
        var fcm = FCMConfiguration()
        if let baseURL = try settings.optionalString("FCM_BASE_URL", "the URL of FCM") { fcm.baseURL = baseURL }
        fcm.transport.maxResponseBodyByteCount = Self.maxResponseByteCount
        fcm.transport.maxConnections = try settings.int("FCM_CONNECTIONS", default: 8, in: 1...8)
        maxInFlight = Int(
            Double(fcm.transport.maxConnections * fcm.transport.maxStreamsPerConnection) * Self.streamShare)
        fcm.transport.caFile = try Self.readCAFile(settings)
        self.fcm = fcm
        tokenURL = try settings.optionalString("FCM_TOKEN_URL", "the URL of a token endpoint")
        var httpClient = HTTPClientConfiguration()
        httpClient.maxResponseBodyByteCount = Self.maxResponseByteCount
        httpClient.caFile = fcm.transport.caFile
        // Plain HTTP reaches this machine and its metadata server only: the token source enforces that.
        var usesPlainHTTP = tokenURL?.hasPrefix("http://") ?? false
        if case .metadata = credentials { usesPlainHTTP = true }
        if usesPlainHTTP {
            httpClient.allowedSchemes.insert("http")
        }
        self.httpClient = httpClient
        quota = PushQuotaLimits(
            perSecond: Double(try settings.int("FCM_QUOTA_PER_MINUTE", default: 600_000, in: 1000...100_000_000)) / 60
                * Self.quotaShare,
            bulkRamp: try settings.seconds("FCM_BULK_RAMP_SECONDS", default: .seconds(60), in: 0...600))
        canary = try Canary.Configuration(settings)
        retryPolicy = PushRetryPolicy(
            maxAttempts: try settings.int("NOTIFY_MAX_ATTEMPTS", default: 12, in: 1...20),
            minDelay: try settings.seconds("NOTIFY_RETRY_SECONDS", default: .seconds(10), in: 0.01...600))
        var consumer = EventConsumerConfiguration()
        consumer.concurrency = try settings.int("CONSUMER_CONCURRENCY", default: 8, in: 1...64)
        self.consumer = consumer
    }

    private static func readCredentials(
        _ settings: Settings
    ) throws(ConfigurationError) -> (Credentials, projectID: String) {
        let name = "FCM_CREDENTIALS"
        let expectation = "file or metadata"
        if let key = try readFirebaseKey(settings) { return (.key(key), key.projectID) }
        switch try settings.optionalString(name, expectation) ?? "file" {
        case "file":
            let key = try readKey(settings)
            return (.key(key), key.projectID)
        case "metadata":
            let project = try settings.string("GOOGLE_CLOUD_PROJECT", "the id of the Firebase project")
            return (.metadata(host: try settings.optionalString("GCE_METADATA_HOST", "a host and perhaps a port")), project)
        default: throw ConfigurationError(name, "is not valid", expectation: expectation)
        }
    }

    /// Reads the key whose parts are single settings; nil when there are none.
    ///
    /// The project id alone is not a key: other services and other sources of credentials use that setting too.
    private static func readFirebaseKey(_ settings: Settings) throws(ConfigurationError) -> ServiceAccountKey? {
        let (name, expectation) = ("FIREBASE_PRIVATE_KEY", "the private key of a service account, in PEM")
        let pem = try settings.optionalString(name, expectation)
        let email = try settings.optionalString("FIREBASE_CLIENT_EMAIL")
        guard pem != nil || email != nil else { return nil }
        for other in ["FCM_CREDENTIALS", "GOOGLE_APPLICATION_CREDENTIALS"] {
            guard try settings.optionalString(other) != nil else { continue }
            let given = pem == nil ? "FIREBASE_CLIENT_EMAIL" : name
            throw ConfigurationError(given, "is given beside \(other)", expectation: "left out, or \(other) is")
        }
        let project = try settings.string("FIREBASE_PROJECT_ID", "the id of the Firebase project")
        let account = try settings.string("FIREBASE_CLIENT_EMAIL", "the e-mail address of a service account")
        let key = try settings.string(name, expectation)
        do throws(FCMError) {
            return try ServiceAccountKey(projectID: project, clientEmail: account, privateKey: key)
        } catch {
            throw ConfigurationError(name, "is not usable (\(error.message))", expectation: expectation)
        }
    }

    private static func readKey(_ settings: Settings) throws(ConfigurationError) -> ServiceAccountKey {
        let name = "GOOGLE_APPLICATION_CREDENTIALS"
        let expectation = "the path of a service account's JSON key file"
        let path = try settings.string(name, expectation)
        guard let bytes = FileManager.default.contents(atPath: path) else {
            throw ConfigurationError(name, "names a file that cannot be read", expectation: expectation)
        }
        do throws(FCMError) {
            return try ServiceAccountKey(json: [UInt8](bytes))
        } catch {
            throw ConfigurationError(name, "is not usable (\(error.message))", expectation: expectation)
        }
    }

    private static func readCAFile(_ settings: Settings) throws(ConfigurationError) -> String? {
        let expectation = "the path of a PEM file of certificate authorities"
        guard let path = try settings.optionalString("FCM_CA_FILE", expectation) else { return nil }
        guard FileManager.default.isReadableFile(atPath: path) else {
            throw ConfigurationError("FCM_CA_FILE", "names a file that cannot be read", expectation: expectation)
        }
        return path
    }
}
