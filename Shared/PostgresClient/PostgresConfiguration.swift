internal import CLibPQ

/// How a ``PostgresClient`` connects, and the limits it keeps.
public struct PostgresConfiguration: Sendable {
    /// A libpq connection URI or conninfo string; TCP and unix sockets, with TLS as `sslmode` says.
    public var url: String
    /// The server itself, when ``url`` leads to a pooler that gives each transaction whichever server connection is free, as
    /// PgBouncer does; nil when it leads to the server.
    ///
    /// LISTEN goes here. On the pooler nothing is left behind in a session: statements have no names, and ``searchPath``,
    /// ``statementTimeout`` and ``idleTransactionTimeout`` are not set there but have to be the role's own.
    public var directURL: String?
    /// The name shown in `pg_stat_activity`.
    public var applicationName = "heliograph"
    /// The schemas searched for unqualified names; the server's default when nil.
    public var searchPath: String?
    /// How many connections the pool opens at most, the one for LISTEN not counted.
    public var maxConnections = 4
    /// How many read-only queries may be in flight on one connection.
    public var maxPipelinedReads = 64
    /// How many queries and transactions may wait for a connection; more are refused with ``PostgresError/Code/queueFull``.
    public var maxWaiting = 8192
    /// How many prepared statements a connection keeps; the least recently used one makes room.
    public var maxPreparedStatements = 256
    /// How many undelivered notifications a listener may have; the oldest are dropped beyond that.
    public var maxBufferedNotifications = 1024
    /// How long a query may take, waiting for a connection included, unless it says otherwise.
    public var queryTimeout: Duration = .seconds(30)
    /// After how long the server itself stops a statement: the backstop for results nobody waits for any more. Zero: never.
    public var statementTimeout: Duration = .seconds(60)
    /// After how long without a statement the server ends a transaction and its connection, so that a process that stands still
    /// does not keep the locks of work which another one has taken over. Zero: never.
    public var idleTransactionTimeout: Duration = .seconds(15)
    /// How long one attempt to connect may take; whole seconds, at least two.
    public var connectTimeout: Duration = .seconds(10)
    /// How long the server may take to obey a cancel request before the connection is closed.
    public var cancelGrace: Duration = .seconds(3)
    /// The pause after a first failed attempt to connect; it doubles with each further one.
    public var reconnectDelay: Duration = .milliseconds(20)
    /// The longest pause between attempts to connect.
    public var maxReconnectDelay: Duration = .seconds(2)
    /// How long a graceful shutdown waits for work in flight.
    public var drainTimeout: Duration = .seconds(10)

    /// Creates a configuration from a connection string; everything else has its default.
    ///
    /// - Parameter url: `postgresql://user@host:5432/name`, or `host=/run/postgresql dbname=name`.
    public init(url: String) {
        self.url = url
    }
}

extension PostgresConfiguration {
    /// Checks what can be checked without a server.
    func validate() throws(PostgresError) {
        let limits = [
            ("maxConnections", maxConnections), ("maxPipelinedReads", maxPipelinedReads), ("maxWaiting", maxWaiting),
            ("maxPreparedStatements", maxPreparedStatements), ("maxBufferedNotifications", maxBufferedNotifications),
        ]
        for (name, value) in limits where value < 1 {
            throw PostgresError(code: .configuration, message: "\(name) must be at least 1, not \(value)")
        }
        // libpq's own message may quote the string, and with it a password.
        for url in [url, directURL].compactMap({ $0 }) {
            guard let options = PQconninfoParse(url, nil) else {
                let message = "the connection string is neither a postgresql:// URI nor key=value pairs that libpq understands"
                throw PostgresError(code: .configuration, message: message)
            }
            PQconninfoFree(options)
        }
    }

    /// Whether connections for work lead to a pooler.
    var isPooled: Bool { directURL != nil }

    /// For connections that have to be one session from their beginning to their end.
    var direct: PostgresConfiguration {
        var configuration = self
        configuration.url = directURL ?? url
        configuration.directURL = nil
        return configuration
    }
}

extension Duration {
    /// Nanoseconds, clamped to what fits.
    var clampedNanoseconds: UInt64 {
        let (seconds, attoseconds) = components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        guard seconds < 1 << 32 else { return UInt64(1 << 32) * 1_000_000_000 }
        return UInt64(seconds) * 1_000_000_000 + UInt64(attoseconds / 1_000_000_000)
    }

    /// Whole milliseconds, rounded up.
    var roundedUpMilliseconds: Int64 {
        Int64((clampedNanoseconds + 999_999) / 1_000_000)
    }
}
