/// The settings and limits of an HTTP/2 client.
public struct HTTP2ClientConfiguration: Sendable {
    /// A PEM file of certificate authorities to trust in place of the system's.
    public var caFile: String?
    /// The most connections at once, besides that of urgent calls; draining ones do not count.
    public var maxConnections = 4
    /// The most requests at once on one connection; the server may allow fewer.
    public var maxStreamsPerConnection = 100
    /// The most requests at once, including those that wait for a connection; more are refused as not sent.
    public var maxRequestsInFlight = 4096
    /// The most bytes of a response's body.
    public var maxResponseBodyByteCount = 64 * 1024
    /// The most bytes of the names and values of a response's header fields.
    public var maxResponseHeadByteCount = 64 * 1024
    /// The time limit of a request, including the wait for a connection.
    public var timeout: Duration = .seconds(15)
    /// The time limit of connecting, TLS included, and again of the server's first frame after that.
    public var connectTimeout: Duration = .seconds(5)
    /// The time after which a connection counts as dead: its sent bytes stay unacknowledged, or its server owes responses and
    /// sends nothing.
    ///
    /// After half of it the server is pinged, so that a server that is only slow to respond keeps its connection.
    public var unacknowledgedTimeout: Duration = .seconds(10)
    /// The age at which a connection is replaced, give or take a quarter at random, so that load balancers are followed.
    public var connectionLifetime: Duration = .seconds(1800)
    /// The time that requests in flight have to finish after a shutdown began.
    public var shutdownGrace: Duration = .seconds(10)

    /// Makes the default configuration.
    public init() {}
}
