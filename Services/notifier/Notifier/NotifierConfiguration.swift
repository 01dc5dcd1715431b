internal import EventBus
internal import FCM
internal import FoundationEssentials
internal import HTTPClient
internal import Push
internal import ServiceDefaults

/// The settings of the notifier.
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
        let baseURL = try settings.optionalString("FCM_BASE_URL", "a URL", otherwise: "Google's", about: "for the emulator only")
        if let baseURL { fcm.baseURL = baseURL }
        fcm.transport.maxResponseBodyByteCount = Self.maxResponseByteCount
        fcm.transport.maxConnections = try settings.int(
            "FCM_CONNECTIONS", default: 8, in: 1...8,
            about: "HTTP/2 connections to FCM, each for 100 pushes at once, besides one for urgent pushes")
        maxInFlight = Int(
            Double(fcm.transport.maxConnections * fcm.transport.maxStreamsPerConnection) * Self.streamShare)
        fcm.transport.caFile = try settings.authorities("FCM_CA_FILE", about: "for the emulator only")
        self.fcm = fcm
        tokenURL = try settings.optionalString("FCM_TOKEN_URL", "a URL", otherwise: "Google's", about: "for the emulator only")
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
        let perMinute = try settings.int(
            "FCM_QUOTA_PER_MINUTE", default: 600_000, in: 1000...100_000_000,
            about: "what FCM lets the project send; all notifiers together use four fifths")
        quota = PushQuotaLimits(
            perSecond: Double(perMinute) / 60 * Self.quotaShare,
            bulkRamp: try settings.seconds(
                "FCM_BULK_RAMP_SECONDS", default: .seconds(60), in: 0...600,
                about: """
                    how long a fan-out takes from a standing start to full speed; while urgent pushes come at least once a second, a \
                    notifier sends some 9,500 a second of a fan-out beside them, whatever the quota
                    """))
        canary = try Canary.Configuration(settings)
        retryPolicy = PushRetryPolicy(
            maxAttempts: try settings.int(
                "NOTIFY_MAX_ATTEMPTS", default: 12, in: 1...20,
                about: "tries of a push within its hour when FCM has a passing fault; 1 means no retry"),
            minDelay: try settings.seconds(
                "NOTIFY_RETRY_SECONDS", default: .seconds(10), in: 0.01...600, about: "the wait before the first retry"))
        var consumer = EventConsumerConfiguration()
        consumer.concurrency = try settings.int(
            "CONSUMER_CONCURRENCY", default: 8, in: 1...64, about: "events of a lane that are handled at the same time")
        self.consumer = consumer
    }

    private static func readCredentials(
        _ settings: Settings
    ) throws(ConfigurationError) -> (Credentials, projectID: String) {
        if let key = try readFirebaseKey(settings) { return (.key(key), key.projectID) }
        switch try settings.choice(
            "FCM_CREDENTIALS", default: CredentialsKind.file,
            about: "how access tokens are got: by a key file, or as the account that a machine or pod in Google's cloud runs as")
        {
        case .file:
            let key = try readKey(settings)
            return (.key(key), key.projectID)
        case .metadata:
            let project = try settings.string("GOOGLE_CLOUD_PROJECT", "the id of the Firebase project", about: "the Firebase project")
            let host = try settings.optionalString(
                "GCE_METADATA_HOST", "a host and perhaps a port", otherwise: "Google's", about: "the metadata server")
            return (.metadata(host: host), project)
        }
    }

    private enum CredentialsKind: String, CaseIterable { case file, metadata }

    /// Reads the key from single settings for its parts; nil when they are not set.
    ///
    /// The project id alone is not a key: other services and other sources of credentials use that setting too.
    private static func readFirebaseKey(_ settings: Settings) throws(ConfigurationError) -> ServiceAccountKey? {
        let (name, expectation) = ("FIREBASE_PRIVATE_KEY", "the private key of a service account, in PEM")
        let pem = try settings.optionalString(name, expectation, about: "the key of a key file; line ends as they are or as `\\n`")
        let email = try settings.optionalString(
            "FIREBASE_CLIENT_EMAIL", "the e-mail address of a service account",
            about: "the account of a key file, in place of `FCM_CREDENTIALS` and `GOOGLE_APPLICATION_CREDENTIALS`, never beside them")
        guard pem != nil || email != nil else { return nil }
        for other in ["FCM_CREDENTIALS", "GOOGLE_APPLICATION_CREDENTIALS"] {
            guard try settings.optionalString(other) != nil else { continue }
            let given = pem == nil ? "FIREBASE_CLIENT_EMAIL" : name
            throw ConfigurationError(given, "is given beside \(other)", expectation: "left out, or \(other) is")
        }
        let project = try settings.string("FIREBASE_PROJECT_ID", "the id of the Firebase project", about: "the project of a key file")
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
        let path = try settings.string(name, expectation, about: "the key of the Firebase project")
        guard let bytes = FileManager.default.contents(atPath: path) else {
            throw ConfigurationError(name, "names a file that cannot be read", expectation: expectation)
        }
        do throws(FCMError) {
            return try ServiceAccountKey(json: [UInt8](bytes))
        } catch {
            throw ConfigurationError(name, "is not usable (\(error.message))", expectation: expectation)
        }
    }
}
