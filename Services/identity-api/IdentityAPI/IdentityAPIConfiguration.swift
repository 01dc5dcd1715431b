internal import NIOCore
internal import ServiceDefaults
internal import Storage

/// The settings and limits of identity-api.
struct IdentityAPIConfiguration: Sendable {
    /// Where it listens.
    var host = "127.0.0.1"
    /// The TCP port; 0 lets the system choose.
    var port = 8080
    /// What an upload may be.
    var uploads = UploadLimits()
    /// How patient a connection is with a slow client.
    var connection = ConnectionGuard.Limits()
    /// How much one client may have.
    var limits = LimitsConfiguration()
    /// Web apps that may call from their own origins.
    var origins = AllowedOrigins()
    /// Connections at a time; more wait in the system's queue.
    var connections = 4_096
    /// A connection without a request is closed after this.
    var idleTimeout = TimeAmount.seconds(75)
    /// Requests that may wait for a session at a time, and those that may wait for a job.
    var waiters = 2_000
    /// Clients that may read a job's events at a time; one address, a share of them.
    var eventStreams = 1_000
    /// Pictures that may be on their way out at a time; each has a piece of 256 KiB in memory, and what its connection holds.
    var downloads = 64
    /// How long an image job may take, waiting included.
    var imageProcessingTime = NewImageJob.defaultProcessingTime
    /// How long photos of topics are kept.
    var photoLifetime = NewTopicPhoto.defaultLifetime
    /// Pause between two sweeps for overdue sessions.
    var sweepInterval = Duration.seconds(5)

    init() {}

    /// Reads `HTTP_HOST`, `HTTP_PORT`, `UPLOAD_CONCURRENCY`, `IMAGE_JOB_DEADLINE_SECONDS`, `TOPIC_PHOTO_LIFETIME_DAYS`
    /// and the settings of ``LimitsConfiguration`` and ``AllowedOrigins``.
    init(_ settings: Settings) throws(ConfigurationError) {
        host = try settings.optionalString("HTTP_HOST", "an address to listen on") ?? host
        port = try settings.int("HTTP_PORT", default: port, in: 0...65_535)
        uploads.concurrentUploads = try settings.int("UPLOAD_CONCURRENCY", default: uploads.concurrentUploads, in: 1...1_024)
        imageProcessingTime = try settings.seconds("IMAGE_JOB_DEADLINE_SECONDS", default: imageProcessingTime, in: 10...3_600)
        photoLifetime = try settings.photoLifetime()
        limits = try LimitsConfiguration(settings)
        origins = try AllowedOrigins(settings)
    }
}
