public import FoundationEssentials
public import PostgresClient

/// The numbers of sessions that are not decided and not expired.
public struct UndecidedSessions: Sendable, Equatable {
    /// The number of all undecided sessions.
    public var total: Int
    /// The number of sessions that wait for their turn.
    public var waiting: Int
    /// The number of sessions in the lane `bulk` that do not wait for their turn.
    public var bulk: Int
    /// The number from the given address.
    public var ofAddress: Int
    /// The number from the given address in the lane `new` that do not wait for their turn.
    public var inFlightOfAddress: Int
    /// The number from the given address that wait for their turn.
    public var waitingOfAddress: Int
    /// The number from the given site in the lane `bulk` that do not wait for their turn.
    public var bulkOfSite: Int
    /// The estimated time of face engines of those from the given site in the lane `known`.
    public var knownCostOfSite: Duration
    /// The number from the given installation.
    public var ofInstallation: Int
    /// The number of sign-ups that the given account authorised.
    public var ofAccount: Int
    /// The total size of the photos of all in bytes.
    public var photoBytes: Int
    /// That of the sessions from the given site.
    public var photoBytesOfSite: Int

    /// Describes the load.
    public init(
        total: Int = 0, waiting: Int = 0, bulk: Int = 0, ofAddress: Int = 0, inFlightOfAddress: Int = 0, waitingOfAddress: Int = 0,
        bulkOfSite: Int = 0, knownCostOfSite: Duration = .zero, ofInstallation: Int = 0, ofAccount: Int = 0, photoBytes: Int = 0,
        photoBytesOfSite: Int = 0
    ) {
        self.total = total
        self.waiting = waiting
        self.bulk = bulk
        self.ofAddress = ofAddress
        self.inFlightOfAddress = inFlightOfAddress
        self.waitingOfAddress = waitingOfAddress
        self.bulkOfSite = bulkOfSite
        self.knownCostOfSite = knownCostOfSite
        self.ofInstallation = ofInstallation
        self.ofAccount = ofAccount
        self.photoBytes = photoBytes
        self.photoBytesOfSite = photoBytesOfSite
    }
}

extension SessionRepository {
    /// Counts the undecided sessions; the admission limit allows some hundreds.
    ///
    /// - Parameters:
    ///   - origin: An address with its site.
    ///   - installationKey: An installation; `nil` counts none.
    ///   - accountID: The account whose bearer authorised a sign-up; `nil` counts none.
    public func undecided(
        of origin: RequestOrigin, installationKey: [UInt8]?, accountID: UUID?
    ) async throws(PostgresError) -> UndecidedSessions {
        let rows = try await db.query(
            """
            SELECT count(*) AS total, count(*) FILTER (WHERE awaits_turn) AS waiting,
                count(*) FILTER (WHERE lane = 'bulk' AND NOT awaits_turn) AS bulk,
                count(*) FILTER (WHERE address_key = \(origin.addressKey)) AS of_address,
                count(*) FILTER (WHERE address_key = \(origin.addressKey) AND lane = 'new' AND NOT awaits_turn) AS in_flight,
                count(*) FILTER (WHERE address_key = \(origin.addressKey) AND awaits_turn) AS waiting_of_address,
                count(*) FILTER (WHERE site_key = \(origin.siteKey) AND lane = 'bulk' AND NOT awaits_turn) AS bulk_of_site,
                coalesce(sum(cost_ms) FILTER (WHERE site_key = \(origin.siteKey) AND lane = 'known'), 0)::bigint AS known_cost_of_site,
                count(*) FILTER (WHERE installation_key = \(installationKey)) AS of_installation,
                count(*) FILTER (WHERE user_id = \(accountID) AND authorised) AS of_account,
                coalesce(sum(photo_bytes), 0)::bigint AS photo_bytes,
                coalesce(sum(photo_bytes) FILTER (WHERE site_key = \(origin.siteKey)), 0)::bigint AS photo_bytes_of_site
            FROM sessions WHERE \(unescaped: Self.isUndecided)
            """)
        let row = try rows.required()
        return UndecidedSessions(
            total: try row.decode("total"), waiting: try row.decode("waiting"), bulk: try row.decode("bulk"),
            ofAddress: try row.decode("of_address"), inFlightOfAddress: try row.decode("in_flight"),
            waitingOfAddress: try row.decode("waiting_of_address"), bulkOfSite: try row.decode("bulk_of_site"),
            knownCostOfSite: .milliseconds(try row.decode("known_cost_of_site", as: Int.self)),
            ofInstallation: try row.decode("of_installation"), ofAccount: try row.decode("of_account"),
            photoBytes: try row.decode("photo_bytes"), photoBytesOfSite: try row.decode("photo_bytes_of_site"))
    }

    /// Counts the undecided sessions, and blocks other new sessions of the site, the installation or the account until the transaction
    /// ends: two concurrent counts would both find room.
    ///
    /// Does not block sessions of other sites, so concurrent sessions may exceed the limits of the total by their number. Call after
    /// ``lockSignInAttempts(userID:installationKey:)``: locks are taken in the order account, site, installation.
    public func lockUndecided(
        of origin: RequestOrigin, installationKey: [UInt8]?, accountID: UUID?
    ) async throws(PostgresError) -> UndecidedSessions {
        try await db.execute(
            """
            SELECT pg_advisory_xact_lock(hashtextextended('sessions_of_account:' || (\(accountID)::uuid)::text, 0)),
                pg_advisory_xact_lock(\(unescaped: Self.turnLock("site_key"))),
                pg_advisory_xact_lock(hashtextextended('sessions_of_installation:' || encode((\(installationKey)::bytea), 'hex'), 0))
            FROM (SELECT \(origin.siteKey)::bytea AS site_key) site
            """)
        return try await undecided(of: origin, installationKey: installationKey, accountID: accountID)
    }

    /// Returns the time of face engines that sessions have used in ``costWindow``, or will use: undecided sessions count by their
    /// estimates.
    ///
    /// - Parameters:
    ///   - origin: The address and site whose sessions count.
    ///   - userID: The account whose sessions in the lane `known` count; `nil` counts none.
    public func engineTime(of origin: RequestOrigin, userID: UUID?) async throws(PostgresError) -> EngineTime {
        let query: PostgresQuery = """
            SELECT coalesce(sum(cost_ms) FILTER (WHERE address_key = \(origin.addressKey) AND lane <> 'known'), 0)::bigint AS of_address,
                coalesce(sum(cost_ms) FILTER (WHERE lane <> 'known'), 0)::bigint AS of_site,
                coalesce(sum(cost_ms) FILTER (WHERE lane = 'known'), 0)::bigint AS known_of_site,
                (SELECT coalesce(sum(k.cost_ms), 0)::bigint FROM sessions k
                 WHERE k.user_id = \(userID) AND k.lane = 'known' AND k.created_at > now() - \(unescaped: Self.costInterval)) AS of_account
            FROM sessions
            WHERE site_key = \(origin.siteKey) AND created_at > now() - \(unescaped: Self.costInterval)
            """
        let row = try await db.query(query.readOnly()).required()
        return EngineTime(
            ofAddress: .milliseconds(try row.decode("of_address", as: Int.self)),
            ofSite: .milliseconds(try row.decode("of_site", as: Int.self)),
            knownOfSite: .milliseconds(try row.decode("known_of_site", as: Int.self)),
            ofAccount: .milliseconds(try row.decode("of_account", as: Int.self)))
    }

    /// The time for which the cost of a session counts: 10 minutes.
    public static let costWindow: Duration = .seconds(10 * 60)
    static let costInterval = "interval '\(costWindow.components.seconds) seconds'"

    /// SQL condition: a session is not decided and not expired.
    static let isUndecided = "state IN ('received', 'processing') AND deadline_at > now()"
}

/// The time of face engines that sessions have used.
public struct EngineTime: Sendable, Equatable {
    /// The time for one address, without sessions in the lane `known`.
    public var ofAddress: Duration
    /// The time for all addresses of its site (IPv6: the /48), without sessions in the lane `known`.
    public var ofSite: Duration
    /// The time for the site's sessions in the lane `known`.
    public var knownOfSite: Duration
    /// The time for the sessions of one account in the lane `known`.
    public var ofAccount: Duration

    /// Names the times.
    public init(ofAddress: Duration = .zero, ofSite: Duration = .zero, knownOfSite: Duration = .zero, ofAccount: Duration = .zero) {
        self.ofAddress = ofAddress
        self.ofSite = ofSite
        self.knownOfSite = knownOfSite
        self.ofAccount = ofAccount
    }
}
