public import FoundationEssentials
public import PostgresClient

/// The load of sessions that are neither decided nor expired.
public struct UndecidedSessions: Sendable, Equatable {
    /// The number of all undecided sessions.
    public var total: Int
    /// The number from the given address.
    public var ofAddress: Int
    /// The number from the given installation.
    public var ofInstallation: Int
    /// The number of sign-ups that the given account authorised.
    public var ofAccount: Int
    /// The total size of their photos in bytes.
    public var photoBytes: Int

    /// Describes the load.
    public init(total: Int, ofAddress: Int, ofInstallation: Int, ofAccount: Int, photoBytes: Int) {
        self.total = total
        self.ofAddress = ofAddress
        self.ofInstallation = ofInstallation
        self.ofAccount = ofAccount
        self.photoBytes = photoBytes
    }
}

extension SessionRepository {
    /// Counts the undecided sessions, of which the admission limit allows some hundreds.
    ///
    /// - Parameters:
    ///   - addressKey: An address, as in ``RequestOrigin/addressKey``.
    ///   - installationKey: An installation; `nil` counts none.
    ///   - accountID: The account whose bearer authorised a sign-up; `nil` counts none.
    public func undecided(
        of addressKey: [UInt8]?, installationKey: [UInt8]?, accountID: UUID?
    ) async throws(PostgresError) -> UndecidedSessions {
        let rows = try await db.query(
            """
            SELECT count(*) AS total, count(*) FILTER (WHERE address_key = \(addressKey)) AS of_address,
                count(*) FILTER (WHERE installation_key = \(installationKey)) AS of_installation,
                count(*) FILTER (WHERE user_id = \(accountID) AND authorised) AS of_account,
                coalesce(sum(photo_bytes), 0)::bigint AS photo_bytes
            FROM sessions WHERE state IN ('received', 'processing') AND deadline_at > now()
            """)
        let row = try rows.required()
        return UndecidedSessions(
            total: try row.decode("total"), ofAddress: try row.decode("of_address"),
            ofInstallation: try row.decode("of_installation"), ofAccount: try row.decode("of_account"),
            photoBytes: try row.decode("photo_bytes"))
    }

    /// Counts the undecided sessions, and blocks other new sessions of the address, the installation or the account until the
    /// transaction ends: two concurrent counts would both find room.
    ///
    /// Does not block sessions of other addresses, so concurrent sessions may exceed the limit of the total by their number.
    /// Call after ``lockSignInAttempts(userID:installationKey:)``: locks are taken in the order account, address, installation.
    public func lockUndecided(
        of addressKey: [UInt8]?, installationKey: [UInt8]?, accountID: UUID?
    ) async throws(PostgresError) -> UndecidedSessions {
        try await db.execute(
            """
            SELECT pg_advisory_xact_lock(hashtextextended('sessions_of_account:' || (\(accountID)::uuid)::text, 0)),
                pg_advisory_xact_lock(hashtextextended('sessions_of_address:' || encode((\(addressKey)::bytea), 'hex'), 0)),
                pg_advisory_xact_lock(hashtextextended('sessions_of_installation:' || encode((\(installationKey)::bytea), 'hex'), 0))
            """)
        return try await undecided(of: addressKey, installationKey: installationKey, accountID: accountID)
    }
}
