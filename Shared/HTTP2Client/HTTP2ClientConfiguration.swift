/// What an HTTP/2 client may do, and its limits.
public struct HTTP2ClientConfiguration: Sendable {
    /// A PEM file of the authorities to trust in place of the system's.
    public var caFile: String?
    /// The most connections at once; those that only finish what is on them do not count.
    public var connectionsMax = 4
    /// The most requests at once on one connection; the server may allow less.
    public var streamsPerConnectionMax = 100
    /// The most requests at once, those that wait for a connection included; more are refused as not sent.
    public var requestsInFlightMax = 4096
    /// The most bytes of a response's body.
    public var responseBodyByteCountMax = 64 * 1024
    /// The most bytes of the names and values of a response's header fields.
    public var responseHeadByteCountMax = 64 * 1024
    /// How long a request may take, waiting for a connection included.
    public var timeout: Duration = .seconds(15)
    /// How long connecting may take, TLS and the server's first frame included.
    public var connectTimeout: Duration = .seconds(5)
    /// How long sent bytes may stay unacknowledged, and a server with requests silent, before the connection counts as dead.
    ///
    /// After half of it the server is asked by PING, so a server that only takes its time with an answer is not given up.
    public var unacknowledgedTimeout: Duration = .seconds(10)
    /// How old a connection may get before it is replaced, so that load balancers are followed.
    public var connectionLifetime: Duration = .seconds(1800)
    /// How long requests in flight may take to finish after a shutdown began.
    public var shutdownGrace: Duration = .seconds(10)

    /// Makes the default configuration.
    public init() {}
}
