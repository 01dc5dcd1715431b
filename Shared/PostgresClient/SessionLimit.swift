/// A time limit that the server itself keeps in each session: the backstop for a client that hangs or is gone.
public struct SessionLimit: Sendable, Hashable {
    /// The name of the server's setting.
    public let setting: String
    /// The limit; zero for no limit.
    public let duration: Duration

    /// The limit as a value of the setting, in whole milliseconds.
    public var value: String { "\(duration.roundedUpMilliseconds)ms" }
}

extension PostgresConfiguration {
    /// The limits of the sessions of this client: it sets them itself on connections to the server. Behind a pooler, whose sessions are
    /// shared by clients, the limits have to be set on the role.
    public var sessionLimits: [SessionLimit] {
        [
            SessionLimit(setting: "statement_timeout", duration: statementTimeout),
            SessionLimit(setting: "idle_in_transaction_session_timeout", duration: idleTransactionTimeout),
        ]
    }

    /// The settings of the sessions of this client, set where ``sessionLimits`` are set: these limits, and no compilation of statements
    /// (`jit`). Postgres compiles a statement that it expects to be costly, as one on a new table without statistics. That takes up to
    /// half a second of a core each time, and our statements take milliseconds.
    public var sessionSettings: [(name: String, value: String)] { [("jit", "off")] + sessionLimits.map { ($0.setting, $0.value) } }
}

extension SessionLimit {
    /// The limits of a service's sessions, which are the defaults of a client.
    public static let ofServices = PostgresConfiguration(url: "").sessionLimits
    /// The settings of a service's sessions, which are the defaults of a client; see ``PostgresConfiguration/sessionSettings``.
    public static let settingsOfServices = PostgresConfiguration(url: "").sessionSettings

    /// Returns the given limits that a session does not keep: it has switched them off, or has longer ones.
    ///
    /// - Throws: ``PostgresError`` when the server cannot be asked.
    public static func missing(_ limits: [SessionLimit] = ofServices, in session: some PostgresQueryable) async throws(PostgresError)
        -> [SessionLimit]
    {
        let query: PostgresQuery = """
            SELECT name, (extract(epoch FROM current_setting(name)::interval) * 1000)::bigint AS milliseconds
            FROM unnest(\(limits.map(\.setting))) AS names (name)
            """
        var milliseconds: [String: Int64] = [:]
        for row in try await session.query(query.readOnly().timeout(.seconds(5))) {
            milliseconds[try row.decode("name")] = try row.decode("milliseconds")
        }
        return limits.filter { limit in
            let inForce = milliseconds[limit.setting] ?? 0
            return inForce == 0 || inForce > limit.duration.roundedUpMilliseconds
        }
    }
}
