/// What a client may do, and its limits.
public struct HTTPClientConfiguration: Sendable {
    /// Which version of HTTP is spoken.
    ///
    /// HTTP/2 over plain TCP is not offered: libcurl 7.88 cannot use such a connection for a second request.
    public enum Version: Sendable {
        /// HTTP/1.1 only.
        case http1
        /// HTTP/2 where the server offers it over TLS, else HTTP/1.1.
        case http2
    }

    /// Which version of HTTP is spoken.
    public var version: Version = .http2
    /// The schemes a URL may have; `http` must be added on purpose.
    public var allowedSchemes: Set<String> = ["https"]
    /// A PEM file of the authorities to trust in place of the system's.
    public var caFile: String?
    /// The most connections to one host.
    public var connectionsPerHostMax = 4
    /// The most requests at once on one HTTP/2 connection.
    public var streamsPerConnectionMax = 100
    /// The most requests at once, those that wait for a connection included; more are refused as not sent.
    public var requestsInFlightMax = 4096
    /// The most bytes of a response's body.
    public var responseBodyByteCountMax = 1024 * 1024
    /// The most bytes of a response's header block.
    public var responseHeadByteCountMax = 64 * 1024
    /// How long connecting may take, TLS included.
    public var connectTimeout: Duration = .seconds(5)
    /// How long sent bytes may stay unacknowledged before the connection counts as dead.
    public var unacknowledgedTimeout: Duration = .seconds(10)
    /// How old a connection may get before it is replaced, so that load balancers are followed.
    public var connectionLifetime: Duration = .seconds(1800)
    /// How long requests in flight may take to finish after a shutdown began.
    public var shutdownGrace: Duration = .seconds(10)

    /// Makes the default configuration: HTTPS only, HTTP/2 preferred.
    public init() {}
}

extension Duration {
    /// The duration in whole milliseconds, at least 1, because libcurl reads 0 as "for ever".
    package var curlMilliseconds: Int {
        let (seconds, attoseconds) = components
        let milliseconds = seconds.multipliedReportingOverflow(by: 1000)
        guard !milliseconds.overflow, milliseconds.partialValue < Int64(Int32.max) else { return Int(Int32.max) }
        return max(1, Int(milliseconds.partialValue + attoseconds / 1_000_000_000_000_000))
    }
}
