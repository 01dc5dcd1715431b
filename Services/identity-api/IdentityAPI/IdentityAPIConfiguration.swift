internal import Accounts
internal import Mail
internal import NIOCore
internal import Pictures
internal import ServiceDefaults
internal import Topics

/// The settings and limits of identity-api.
struct IdentityAPIConfiguration: Sendable {
    /// The address to listen on.
    var host = "127.0.0.1"
    /// The TCP port; 0 lets the system choose.
    var port = 8080
    /// The size limits of uploads.
    var uploads = UploadLimits()
    /// The time limits for slow clients.
    var connection = ConnectionGuard.Limits()
    /// The limits of one client.
    var limits = LimitsConfiguration()
    /// The Firebase project whose ID tokens are accepted; nil without Firebase sign-ins.
    var firebase: FirebaseConfiguration?
    /// The limits of exports of accounts.
    var exports = ExportLimits()
    /// The consent that a sign-up needs; nil if a sign-up needs no consent.
    var consent: ConsentRequirement?
    /// Whether sign-ups and sign-ins have to answer a challenge.
    var requiresChallenge = false
    /// Whether sign-ins need a device key, and the URLs that proofs name.
    var deviceKeys = DeviceKeyConfiguration()
    /// The origins of web apps that may read answers.
    var origins = AllowedOrigins()
    /// The maximum number of open connections; more wait in the system's accept queue.
    var connections = 4_096
    /// The time after which a connection without a request is closed.
    var idleTimeout = TimeAmount.seconds(75)
    /// The maximum number of requests that wait for a session, and of requests that wait for a job; the two are counted separately.
    var waiters = 2_000
    /// The maximum number of open event streams; one address may hold a share of them.
    var eventStreams = 1_000
    /// The maximum number of concurrent downloads; each holds a piece of 256 KiB and the connection's unflushed bytes in memory.
    var downloads = 64
    /// The time that an image job may take, from its submission.
    var imageProcessingTime = NewImageJob.defaultProcessingTime
    /// The time for which photos of topics are kept.
    var photoLifetime = NewTopicPhoto.defaultLifetime
    /// The time until a mail server that does not answer is tried again.
    var mailRetryDelay = Duration.seconds(10)
    /// The lifetimes of tokens and sign-ins.
    var signIns = SignInLifetimes()
    /// Who creates topics.
    var topicCreators = TopicCreators.users
    /// Pause between two sweeps for overdue sessions.
    var sweepInterval = Duration.seconds(5)
    /// The mail server, and the sender of mails.
    var mail: SMTPConfiguration

    init(mail: SMTPConfiguration) { self.mail = mail }

    /// Reads the settings of the service.
    init(_ settings: Settings) throws(ConfigurationError) {
        mail = try SMTPConfiguration(settings)
        host = try settings.string("HTTP_HOST", default: host, "an address to listen on", about: "where identity-api listens")
        port = try settings.int("HTTP_PORT", default: port, in: 0...65_535, about: "the port of the API")
        uploads.concurrentUploads = try settings.int(
            "UPLOAD_CONCURRENCY", default: uploads.concurrentUploads, in: 1...1_024, about: "uploads at once, then 503")
        idleTimeout = .seconds(
            Int64(
                try settings.int(
                    "HTTP_IDLE_SECONDS", default: 75, in: 5...3_600,
                    about: "seconds after which a connection without a request is closed; more than a load balancer keeps its own")))
        imageProcessingTime = try settings.seconds(
            "IMAGE_JOB_DEADLINE_SECONDS", default: imageProcessingTime, in: 10...3_600,
            about: "how long a picture may take from its order on, waiting included; then it fails as `timeout`")
        photoLifetime = try settings.photoLifetime(default: NewTopicPhoto.defaultLifetime)
        signIns.idle = .seconds(
            86_400
                * (try settings.int(
                    "SIGN_IN_IDLE_DAYS", default: Int(signIns.idle / .seconds(86_400)), in: 1...365,
                    about: "days after which a device that has not refreshed its tokens must sign in again")))
        signIns.total = .seconds(
            86_400
                * (try settings.int(
                    "SIGN_IN_MAX_DAYS", default: Int(signIns.total / .seconds(86_400)), in: 1...3_650,
                    about: "days after a sign-in after which the device must sign in again, refreshed or not")))
        topicCreators = try settings.choice(
            "TOPIC_CREATORS", default: topicCreators,
            about: "who creates topics: `users`, the first who enters one, and apps by their API keys; or `apps` only")
        limits = try LimitsConfiguration(settings)
        origins = try AllowedOrigins(settings)
        firebase = try FirebaseConfiguration(settings)
        exports = try ExportLimits(settings)
        consent = try ConsentRequirement(settings)
        requiresChallenge = try settings.requiresChallenge()
        deviceKeys = try DeviceKeyConfiguration(settings)
    }
}

/// Who creates topics. Names are one namespace: where users create topics, a stranger may take the name that an app is about to use.
enum TopicCreators: String, CaseIterable, Sendable {
    /// Users by entering them, and apps.
    case users
    /// Apps only, by their API keys.
    case apps
}
