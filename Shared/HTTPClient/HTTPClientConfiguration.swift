/// The settings and limits of a client.
public struct HTTPClientConfiguration: Sendable {
    /// The HTTP version of a client.
    ///
    /// HTTP/2 over plain TCP is not offered: libcurl 7.88 cannot use such a connection for a second request.
    public enum Version: Sendable {
        /// HTTP/1.1 only.
        case http1
        /// HTTP/2 where the server offers it over TLS, else HTTP/1.1.
        case http2
    }

    /// The HTTP version to use.
    public var version: Version = .http2
    /// The allowed schemes of URLs; `http` must be added explicitly.
    public var allowedSchemes: Set<String> = ["https"]
    /// A PEM file of certificate authorities to trust in place of the system's.
    public var caFile: String?
    /// The most connections to one host.
    public var maxConnectionsPerHost = 4
    /// The most requests at once on one HTTP/2 connection.
    public var maxStreamsPerConnection = 100
    /// The most requests at once, including those that wait for a connection; more are refused as not sent.
    public var maxRequestsInFlight = 4096
    /// The most bytes of a response's body.
    public var maxResponseBodyByteCount = 1024 * 1024
    /// The most bytes of a response's header block.
    public var maxResponseHeadByteCount = 64 * 1024
    /// The time limit of connecting, TLS included.
    public var connectTimeout: Duration = .seconds(5)
    /// The time without a byte in either direction after which a request that was sent, at least in part, times out: longer than the
    /// server takes to answer.
    public var silenceLimit: Duration = .seconds(60)
    /// The time that sent bytes may stay unacknowledged before the connection counts as dead.
    public var unacknowledgedTimeout: Duration = .seconds(10)
    /// The age at which a connection is replaced, give or take a quarter at random, so that load balancers are followed.
    public var connectionLifetime: Duration = .seconds(1800)
    /// The time that requests in flight have to finish after a shutdown began.
    public var shutdownGrace: Duration = .seconds(10)

    /// Makes the default configuration: HTTPS only, HTTP/2 preferred.
    public init() {}
}

extension Duration {
    /// The duration in whole milliseconds, at least 1, because libcurl takes 0 as "no limit".
    package var curlMilliseconds: Int {
        let (seconds, attoseconds) = components
        let milliseconds = seconds.multipliedReportingOverflow(by: 1000)
        guard !milliseconds.overflow, milliseconds.partialValue < Int64(Int32.max) else { return Int(Int32.max) }
        return max(1, Int(milliseconds.partialValue + attoseconds / 1_000_000_000_000_000))
    }
}
