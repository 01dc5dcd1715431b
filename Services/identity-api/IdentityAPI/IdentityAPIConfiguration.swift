internal import NIOCore
internal import ServiceDefaults

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
    /// Connections at a time; more wait in the system's queue.
    var connections = 4_096
    /// A connection without a request is closed after this.
    var idleTimeout = TimeAmount.seconds(75)
    /// Requests that may wait for a session at a time.
    var waiters = 2_000
    /// Pause between two sweeps for overdue sessions.
    var sweepInterval = Duration.seconds(5)

    init() {}

    /// Reads `HTTP_HOST`, `HTTP_PORT`, `UPLOAD_CONCURRENCY` and the settings of ``LimitsConfiguration``.
    init(_ settings: Settings) throws(ConfigurationError) {
        host = try settings.optionalString("HTTP_HOST", "an address to listen on") ?? host
        port = try settings.int("HTTP_PORT", default: port, in: 0...65_535)
        uploads.concurrentUploads = try settings.int("UPLOAD_CONCURRENCY", default: uploads.concurrentUploads, in: 1...1_024)
        limits = try LimitsConfiguration(settings)
    }
}
