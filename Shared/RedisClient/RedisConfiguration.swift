/// The address of a Redis server, the credentials, and the limits of a client.
public struct RedisConfiguration: Sendable {
    /// The address of the server.
    public enum Endpoint: Hashable, Sendable {
        case tcp(host: String, port: Int)
        case unixSocket(path: String)
        /// The master that these Sentinels name.
        case sentinel(RedisSentinels)
        /// A cluster of Redis or Valkey; these of its servers are asked first for the map of slots.
        case cluster([RedisAddress])
    }

    /// The server, the Sentinels that name it, or the cluster to connect to.
    public var endpoint: Endpoint
    /// Whether connections, to Sentinels too, are encrypted and the servers' certificates checked; not supported over a Unix socket.
    public var tls = false
    /// A PEM file with the certificate authorities to trust; `nil` means the system's.
    public var caFile: String?
    /// The ACL user; `nil` means the default user.
    public var username: String?
    /// The password of ``username``; nil means that no log-in is sent.
    public var password: String?
    /// The ACL user of the Sentinels; `nil` means the default user.
    public var sentinelUsername: String?
    /// The password of the Sentinels, separate from the master's.
    public var sentinelPassword: String?
    /// The number of the database that each connection selects; a cluster has only 0.
    public var database = 0
    /// The name of the connections in `CLIENT LIST`; spaces are not allowed there and become `-`.
    public var clientName = "heliograph"

    /// The time limit for making a connection, TLS and log-in included.
    public var connectTimeout: Duration = .seconds(5)
    /// The default time limit of a command, for a connection and for its reply.
    public var commandTimeout: Duration = .seconds(5)
    /// The time without a byte from the server, while commands wait for replies, after which the connection counts as dead.
    public var stallTimeout: Duration = .seconds(10)
    /// The time that ``RedisClient/shutdown()`` waits for commands to finish.
    public var drainTimeout: Duration = .seconds(5)
    /// The pause before the first retry of a failed connection attempt; it doubles up to ``maxBackoff``.
    public var minBackoff: Duration = .milliseconds(50)
    /// The longest pause between two connection attempts.
    public var maxBackoff: Duration = .seconds(2)

    /// The number of commands that may wait for a connection, and also of commands that may wait for replies; further commands fail at
    /// once.
    public var maxQueuedCommands = 65_536
    /// The number of bytes of commands that may wait for replies; further commands fail at once.
    public var maxQueuedBytes = 64 << 20
    /// The maximum size of one reply in bytes.
    public var maxReplyBytes = 64 << 20
    /// The maximum number of values of one reply, nested ones included.
    public var maxReplyValues = 1 << 20

    /// Creates a configuration without TLS and without a log-in, and with the limits as their defaults say.
    public init(endpoint: Endpoint) {
        self.endpoint = endpoint
    }

    var replyLimits: RESPLimits { RESPLimits(maxBytes: maxReplyBytes, maxValues: maxReplyValues) }
}

extension RedisConfiguration: CustomStringConvertible {
    /// The address without user and password.
    public var description: String {
        switch endpoint {
        case .tcp(let host, let port): "\(tls ? "rediss" : "redis")://\(host):\(port)/\(database)"
        case .unixSocket(let path): "unix://\(path)?db=\(database)"
        case .sentinel(let sentinels):
            "\(tls ? "rediss" : "redis")+sentinel://\(sentinels.addresses.map(\.description).joined(separator: ","))"
                + "/\(sentinels.masterName)/\(database)"
        case .cluster(let addresses):
            "\(tls ? "rediss" : "redis")+cluster://\(addresses.map(\.description).joined(separator: ","))"
        }
    }
}
