/// Where a Redis server is, how to log in, and the limits of a client.
public struct RedisConfiguration: Sendable {
    /// Where the server listens.
    public enum Endpoint: Hashable, Sendable {
        case tcp(host: String, port: Int)
        case unixSocket(path: String)
        /// Wherever these Sentinels say that the master is.
        case sentinel(RedisSentinels)
    }

    public var endpoint: Endpoint
    /// Whether connections, to Sentinels too, are encrypted and the servers' certificates checked; not over a Unix socket.
    public var tls = false
    /// A PEM file with the certificate authorities to trust; `nil` means the system's.
    public var caFile: String?
    /// The ACL user; `nil` means the default user.
    public var username: String?
    public var password: String?
    /// The ACL user of the Sentinels; `nil` means the default user.
    public var sentinelUsername: String?
    /// The password of the Sentinels, which is not the master's.
    public var sentinelPassword: String?
    /// The database that connections select.
    public var database = 0
    /// How connections are named in `CLIENT LIST`; spaces are not allowed there and become `-`.
    public var clientName = "heliograph"

    /// How long making a connection may take, TLS and log-in included.
    public var connectTimeout: Duration = .seconds(5)
    /// How long a command waits, for a connection and for its reply, unless it says otherwise.
    public var commandTimeout: Duration = .seconds(5)
    /// After how long without a byte from the server, while commands wait for replies, the connection counts as dead.
    public var stallTimeout: Duration = .seconds(10)
    /// How long ``RedisClient/shutdown()`` lets commands finish.
    public var drainTimeout: Duration = .seconds(5)
    /// The pause before the first repetition of a failed connection attempt; it doubles up to ``maxBackoff``.
    public var minBackoff: Duration = .milliseconds(50)
    /// The longest pause between two connection attempts.
    public var maxBackoff: Duration = .seconds(2)

    /// How many commands may wait, for a connection or for replies; those above fail at once.
    public var maxQueuedCommands = 65_536
    /// How many bytes of commands may wait for replies; commands above fail at once.
    public var maxQueuedBytes = 64 << 20
    /// How many bytes one reply may have.
    public var maxReplyBytes = 64 << 20
    /// How many values, nested ones included, one reply may have.
    public var maxReplyValues = 1 << 20

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
        }
    }
}
