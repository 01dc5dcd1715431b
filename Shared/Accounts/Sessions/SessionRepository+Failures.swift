public import FoundationEssentials
public import PostgresClient
internal import WireFormat

/// The limits of failed sign-ins in an hour; 0 is no limit.
public struct FailedSignInLimits: Sendable, Equatable {
    /// The failures of one address (IPv6: /64), over all accounts.
    public var perAddress = 300
    /// The failures of one installation, over all accounts.
    public var perInstallation = 20
    /// All failures that compared a face: only this limit detects one face that is tried on many accounts from many addresses.
    public var total = 3_000

    /// The most failures of one site that count in ``total``, so that it measures from how many sites the failures come.
    public static let perSiteInTotal = 20
    /// How many times ``total`` even a challenge does not help.
    public static let challengedTotals = 3

    /// The standard limits.
    public init() {}
}

/// The limits of failed sign-ins that are reached.
public struct FailedSignInLoad: Sendable, Equatable {
    /// When the address, or its site, is below its limit again; `nil` when it is below it now.
    public let addressUntil: Date?
    /// When the installation is below its limit again; `nil` when it is below it now.
    public let installationUntil: Date?
    /// When the total is below its limit again; `nil` when it is below it now.
    public let totalUntil: Date?
    /// When the total is below ``FailedSignInLimits/challengedTotals`` times its limit again; `nil` when it is below it now.
    public let challengedTotalUntil: Date?
}

/// Where a request comes from, as keyed hashes of 32 bytes; `nil` when it is unknown.
public struct RequestOrigin: Sendable, Equatable {
    /// The address (IPv6: its /64).
    public var addressKey: [UInt8]?
    /// The site: of IPv6 the /48, else the address.
    public var siteKey: [UInt8]?

    /// How many times the limit of an address the addresses of one site have together (IPv6: a /48, which has 65,536 addresses of the
    /// limits).
    public static let addressesOfSite = 4

    /// A request without an address.
    public static let unknown = RequestOrigin(addressKey: nil, siteKey: nil)

    /// Names the hashes.
    public init(addressKey: [UInt8]?, siteKey: [UInt8]?) {
        self.addressKey = addressKey
        self.siteKey = siteKey
    }
}

extension SessionRepository {
    /// The time for which a failed sign-in counts in ``FailedSignInLimits``: one hour.
    public static let failedSignInHour: Duration = .seconds(60 * 60)

    /// Returns which limits of failed sign-ins are reached, over all accounts. Reads at most a few times as many index entries as the
    /// limits say.
    public func failedSignIns(
        from origin: RequestOrigin, installationKey: [UInt8]?, limits: FailedSignInLimits
    ) async throws(PostgresError) -> FailedSignInLoad {
        let (perSite, many) = (limits.perAddress * RequestOrigin.addressesOfSite, limits.total * FailedSignInLimits.challengedTotals)
        let query: PostgresQuery = """
            SELECT greatest(
                    (SELECT min(t) + \(unescaped: Self.hour) FROM (
                        SELECT completed_at AS t FROM sessions
                        WHERE address_key = \(origin.addressKey) AND \(unescaped: Self.isRecentFailure)
                        ORDER BY completed_at DESC LIMIT \(limits.perAddress)) f
                     HAVING count(*) = nullif(\(limits.perAddress), 0)),
                    (SELECT min(t) + \(unescaped: Self.hour) FROM (
                        SELECT completed_at AS t FROM sessions WHERE site_key = \(origin.siteKey) AND \(unescaped: Self.isRecentFailure)
                        ORDER BY completed_at DESC LIMIT \(perSite)) f
                     HAVING count(*) = nullif(\(perSite), 0))) AS address,
                (SELECT min(t) + \(unescaped: Self.hour) FROM (
                    SELECT completed_at AS t FROM sessions
                    WHERE installation_key = \(installationKey) AND \(unescaped: Self.isRecentFailure)
                    ORDER BY completed_at DESC LIMIT \(limits.perInstallation)) f
                 HAVING count(*) = nullif(\(limits.perInstallation), 0)) AS installation,
                counted.ends[nullif(\(limits.total), 0)] AS total, counted.ends[nullif(\(many), 0)] AS challenged_total
            FROM (SELECT array_agg(t + \(unescaped: Self.hour) ORDER BY t DESC) AS ends FROM (
                    SELECT t, row_number() OVER (PARTITION BY site_key ORDER BY t DESC) AS number FROM (
                        SELECT completed_at AS t, site_key FROM sessions
                        WHERE \(unescaped: Self.isRecentFailure) AND reason IN (\(unescaped: SessionReason.comparedFaces))
                        ORDER BY completed_at DESC LIMIT \(many * 2)) recent) numbered
                  WHERE number <= \(FailedSignInLimits.perSiteInTotal)) counted
            """
        let row = try await db.query(query.readOnly()).required()
        return FailedSignInLoad(
            addressUntil: try row.decode("address"), installationUntil: try row.decode("installation"), totalUntil: try row.decode("total"),
            challengedTotalUntil: try row.decode("challenged_total"))
    }

    private static let hour = "interval '\(failedSignInHour.components.seconds) seconds'"

    /// SQL condition: a session is a failed sign-in of the last hour. Failures caused by the system do not count.
    private static let isRecentFailure = """
        event = 'sign_in' AND state = 'failed' AND reason NOT IN ('internal', 'timeout') AND completed_at > now() - \(hour)
        """
}
