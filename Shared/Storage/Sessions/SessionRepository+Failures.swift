public import FoundationEssentials
public import PostgresClient

/// The limits of failed sign-ins in an hour; 0 is no limit.
public struct FailedSignInLimits: Sendable, Equatable {
    /// Those of one address (IPv6: /64), over all accounts.
    public var perAddress = 300
    /// Those of one installation, over all accounts.
    public var perInstallation = 20
    /// All of them: one face that is tried on many accounts, from many addresses, shows only here.
    public var total = 3_000

    /// The standard limits.
    public init() {}
}

/// The limits of failed sign-ins that are reached.
public struct FailedSignInLoad: Sendable, Equatable {
    /// When the address is below its limit again; `nil` when it is.
    public let addressUntil: Date?
    /// The same of the installation.
    public let installationUntil: Date?
    /// The same of all.
    public let totalUntil: Date?
}

extension SessionRepository {
    /// The time for which a failed sign-in counts in ``FailedSignInLimits``: one hour.
    public static let failedSignInHour: Duration = .seconds(60 * 60)

    /// Returns which limits of failed sign-ins are reached, over all accounts. Reads at most as many index entries as the limits say.
    public func failedSignIns(
        of addressKey: [UInt8]?, installationKey: [UInt8]?, limits: FailedSignInLimits
    ) async throws(PostgresError) -> FailedSignInLoad {
        let query: PostgresQuery = """
            SELECT (SELECT min(t) + \(unescaped: Self.hour) FROM (
                    SELECT completed_at AS t FROM sessions WHERE address_key = \(addressKey) AND \(unescaped: Self.isRecentFailure)
                    ORDER BY completed_at DESC LIMIT \(limits.perAddress)) f HAVING count(*) = nullif(\(limits.perAddress), 0)) AS address,
                (SELECT min(t) + \(unescaped: Self.hour) FROM (
                    SELECT completed_at AS t FROM sessions
                    WHERE installation_key = \(installationKey) AND \(unescaped: Self.isRecentFailure)
                    ORDER BY completed_at DESC LIMIT \(limits.perInstallation)) f
                 HAVING count(*) = nullif(\(limits.perInstallation), 0)) AS installation,
                (SELECT min(t) + \(unescaped: Self.hour) FROM (
                    SELECT completed_at AS t FROM sessions WHERE \(unescaped: Self.isRecentFailure)
                    ORDER BY completed_at DESC LIMIT \(limits.total)) f HAVING count(*) = nullif(\(limits.total), 0)) AS total
            """
        let row = try await db.query(query.readOnly()).required()
        return FailedSignInLoad(
            addressUntil: try row.decode("address"), installationUntil: try row.decode("installation"), totalUntil: try row.decode("total"))
    }

    private static let hour = "interval '\(failedSignInHour.components.seconds) seconds'"

    /// SQL condition: a session is a failed sign-in of the last hour. Failures caused by the system do not count.
    private static let isRecentFailure = """
        event = 'sign_in' AND state = 'failed' AND reason NOT IN ('internal', 'timeout') AND completed_at > now() - \(hour)
        """
}
