internal import CLibPQ

/// The address, session settings and limits of a ``PostgresClient``.
public struct PostgresConfiguration: Sendable {
    /// A libpq connection URI or conninfo string; TCP and unix sockets, with TLS as `sslmode` says.
    public var url: String
    /// The connection string of the server itself, when ``url`` leads to a pooler that assigns any free server connection to each
    /// transaction, as PgBouncer does; nil when ``url`` leads to the server.
    ///
    /// LISTEN uses this connection. Connections to the pooler leave no state in a session: statements have no names, and
    /// ``statementTimeout`` and ``idleTransactionTimeout`` are not set there but must be set for the role.
    public var directURL: String?
    /// The name shown in `pg_stat_activity`.
    public var applicationName = "heliograph"
    /// The maximum number of connections of the pool, without the one for LISTEN.
    public var maxConnections = 4
    /// The maximum number of read-only queries in flight on one connection.
    public var maxPipelinedReads = 64
    /// The number of queries and transactions that may wait for a connection; further ones fail with ``PostgresError/Code/queueFull``.
    public var maxWaiting = 8192
    /// The maximum number of prepared statements of a connection; the least recently used one is deallocated first.
    public var maxPreparedStatements = 256
    /// The maximum number of undelivered notifications of a listener; the oldest are dropped beyond that.
    public var maxBufferedNotifications = 1024
    /// The default time limit of a query, waiting for a connection included.
    public var queryTimeout: Duration = .seconds(30)
    /// The time after which the server itself stops a statement: the backstop for statements whose caller has given up. Zero: never.
    public var statementTimeout: Duration = .seconds(60)
    /// The time without a statement after which the server ends a transaction and its connection, so that a process that hangs does
    /// not keep the locks of work that others claim: not much more than the silence after which they do. Zero: never.
    public var idleTransactionTimeout: Duration = .seconds(8)
    /// The time limit of one attempt to connect; rounded up to whole seconds, at least two.
    public var connectTimeout: Duration = .seconds(10)
    /// The time that the server has to carry out a cancel request before the connection is closed.
    public var cancelGrace: Duration = .seconds(3)
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
        ]
        for (name, value) in limits where value < 1 {
            throw PostgresError(code: .configuration, message: "\(name) must be at least 1, not \(value)")
        }
        // libpq's own message is not used: it may quote the string, and with it a password.
        for url in [url, directURL].compactMap({ $0 }) {
            guard let options = PQconninfoParse(url, nil) else {
                let message = "the connection string is neither a postgresql:// URI nor key=value pairs that libpq understands"
                throw PostgresError(code: .configuration, message: message)
            }
            PQconninfoFree(options)
        }
    }

    /// Whether each connection is on this machine (a Unix socket), or encrypted to a server whose certificate is checked
    /// (`sslmode=verify-full` in the connection string).
    public var isProtected: Bool { [url, directURL].compactMap { $0 }.allSatisfy(Self.isProtected) }

    private static func isProtected(_ url: String) -> Bool {
        guard let first = PQconninfoParse(url, nil) else { return false }
        defer { PQconninfoFree(first) }
        var values: [String: String] = [:]
        var option = first
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val { values[String(cString: keyword)] = String(cString: value) }
            option += 1
        }
        if values["sslmode"] == "verify-full" { return true }
        let hosts = (values["host"] ?? "").split(separator: ",")
        return values["hostaddr"] == nil && !hosts.isEmpty && hosts.allSatisfy { $0.hasPrefix("/") }
    }

    /// Whether connections for work lead to a pooler.
    var isPooled: Bool { directURL != nil }

    /// The configuration for connections to the server itself, which stay one session from beginning to end.
    var direct: PostgresConfiguration {
        var configuration = self
        configuration.url = directURL ?? url
        configuration.directURL = nil
        return configuration
    }
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
