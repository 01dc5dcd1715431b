/// The address, session settings and limits of a ``PostgresClient``.
public struct PostgresConfiguration: Sendable {
    /// A libpq connection URI or conninfo string; TCP and unix sockets, with TLS as `sslmode` says.
    ///
    /// It may name several hosts; the first host that takes writes is used: `target_session_attrs` is `read-write` unless the string says
    /// otherwise (https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-MULTIPLE-HOSTS).
    public var url: String
    /// The connection string of the server itself, when ``url`` leads to a pooler that assigns any free server connection to each
    /// transaction, as PgBouncer does; nil, or the same hosts and ports, when ``url`` leads to the server.
    ///
    /// LISTEN uses this connection. Connections to the pooler leave no state in a session: statements have no names, and
    /// ``statementTimeout`` and ``idleTransactionTimeout`` are not set there but must be set for the role. A pooler tells each client
    /// what its first server said of itself, so that libpq does not ask there whether the server takes writes.
    public var directURL: String?
    /// The name shown in `pg_stat_activity`.
    public var applicationName = "heliograph"
    /// The maximum number of connections of the pool, without the one for LISTEN.
    public var maxConnections = 4
    /// The maximum number of read-only queries in flight on one connection.
    public var maxPipelinedReads = 64
    /// The number of queries and transactions that may wait for a connection; further ones fail with ``PostgresError/Code/queueFull``.
    public var maxWaiting = 8192
    /// The number of queries that may wait while the server is unreachable: there is no connection, and the last attempt failed.
    public var maxWaitingUnreachable = 256
    /// The maximum number of prepared statements of a connection; the least recently used one is deallocated first.
    public var maxPreparedStatements = 256
    /// The maximum number of undelivered notifications of a listener; the oldest are dropped beyond that.
    public var maxBufferedNotifications = 1024
    /// The default time limit of a query, waiting for a connection included. A statement that exceeds it is cancelled; if the server does
    /// not execute the cancellation, the connection is closed after ``cancelGrace``. So both together bound the effect of a silent server.
    /// It is longer than ``idleTransactionTimeout``, so that a statement that waits for a lock of a hanging process gets the lock in time.
    public var queryTimeout: Duration = .seconds(9)
    /// The time that work waits for a connection while the server is unreachable, before it fails with
    /// ``PostgresError/Code/unavailable``.
    public var unreachableTimeout: Duration = .seconds(2)
    /// The time after which the server itself stops a statement: the backstop for statements whose caller has given up. Zero: never.
    public var statementTimeout: Duration = .seconds(60)
    /// The time without a statement after which the server ends a transaction and its connection, so that a process that hangs does
    /// not keep the locks of work that others claim: not much more than the silence after which they do. Zero: never.
    public var idleTransactionTimeout: Duration = .seconds(8)
    /// The time limit of one attempt to connect to one address; rounded up to whole seconds, at least two.
    public var connectTimeout: Duration = .seconds(5)
    /// The time that sent data may stay unacknowledged by the peer's kernel before the connection ends: the case of a host that has
    /// vanished. Zero: as the system is configured, some 15 minutes.
    public var unacknowledgedTimeout: Duration = .seconds(10)
    /// The silence on the connection for LISTEN after which a query is sent there, which must be answered within ``cancelGrace``.
    public var listenProbeInterval: Duration = .seconds(4)
    /// The time that the server has to carry out a cancel request before the connection is closed.
    public var cancelGrace: Duration = .seconds(2)
    /// The pause after a first failed attempt to connect; it doubles with each further failure.
    public var reconnectDelay: Duration = .milliseconds(20)
    /// The longest pause between attempts to connect.
    public var maxReconnectDelay: Duration = .seconds(2)
    /// The time that a graceful shutdown waits for work in flight.
    public var drainTimeout: Duration = .seconds(10)

    /// Creates a configuration from a connection string, with defaults for all other settings.
    ///
    /// - Parameter url: `postgresql://user@host:5432/name`, or `host=/run/postgresql dbname=name`.
    public init(url: String) {
        self.url = url
    }
}

extension PostgresConfiguration {
    /// Checks the limits and the connection strings, without a server.
    func validate() throws(PostgresError) {
        let limits = [
            ("maxConnections", maxConnections), ("maxPipelinedReads", maxPipelinedReads), ("maxWaiting", maxWaiting),
            ("maxPreparedStatements", maxPreparedStatements), ("maxBufferedNotifications", maxBufferedNotifications),
            ("maxWaitingUnreachable", maxWaitingUnreachable),
        ]
        for (name, value) in limits where value < 1 {
            throw PostgresError(code: .configuration, message: "\(name) must be at least 1, not \(value)")
        }
        // libpq's own message is not used: it may quote the string, and with it a password.
        for url in [url, directURL].compactMap({ $0 }) where ConnectionString(url) == nil {
            let message = "the connection string is neither a postgresql:// URI nor key=value pairs that libpq understands"
            throw PostgresError(code: .configuration, message: message)
        }
    }

    /// The configuration for connections to the server itself, which stay one session from beginning to end.
    var direct: PostgresConfiguration {
        var configuration = self
        configuration.url = directURL ?? url
        configuration.directURL = nil
        return configuration
    }

    /// Whether connections for work lead to a pooler.
    var isPooled: Bool {
        guard let directURL, directURL != url else { return false }
        return ConnectionString(url)?.address != ConnectionString(directURL)?.address
    }

    /// Whether each connection is on this machine (a Unix socket), or encrypted to a server whose certificate is checked
    /// (`sslmode=verify-full` in the connection string).
    public var isProtected: Bool { [url, directURL].compactMap { $0 }.allSatisfy { ConnectionString($0)?.isProtected == true } }
}

extension Duration {
    /// Nanoseconds, clamped to the range from 0 to 2³² seconds.
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
