internal import FoundationEssentials
public import PostgresClient

/// Reads and writes `push_installs`.
public struct PushInstallRepository: Sendable {
    let db: any PostgresQueryable

    /// Works on a client or inside a transaction.
    public init(_ db: some PostgresQueryable) {
        self.db = db
    }

    /// Registers one installation; see the batch form.
    public func upsertSeen(_ registration: PushRegistration) async throws(PostgresError) -> PushInstall {
        guard let install = try await upsertSeen([registration]).first else {
            throw PostgresError(code: .decoding, message: "no installation found after an insert conflict")
        }
        return install
    }

    /// Registers installations: inserts unknown ones and updates known ones, without changing the user they are bound to. The value of
    /// a bound installation is replaced only with proof of its user (``PushRegistration/provenUserID``).
    ///
    /// An unchanged installation that was seen within ``PushInstallLimits/seenInterval`` is not written. A registration revives a dead
    /// or suspect installation if it is newer than that state, and replaces a value if it is newer than the value's registration. Of
    /// several registrations of one installation in a batch, the newest with a proven user counts, or else the newest.
    ///
    /// - Returns: The current rows, one per installation, in no particular order.
    public func upsertSeen(_ registrations: [PushRegistration]) async throws(PostgresError) -> [PushInstall] {
        let newest = Dictionary(grouping: registrations, by: \.installationKey).values
            .compactMap { $0.max { ($0.provenUserID == nil ? 0 : 1, $0.seenAt) < ($1.provenUserID == nil ? 0 : 1, $1.seenAt) } }
        guard !newest.isEmpty else { return [] }
        try await removeOthers(holding: newest)
        var installs = try installs(await db.query(Self.upsertQuery(newest, userID: nil)))
        // A row that another transaction inserted after this statement began, and that needed no write, is visible only to a new
        // snapshot.
        let missing = Set(newest.map(\.installationKey)).subtracting(installs.map(\.installationKey))
        if !missing.isEmpty { installs += try await find(installationKeys: Array(missing)) }
        return installs
    }

    func installs(_ rows: PostgresRows) throws(PostgresError) -> [PushInstall] {
        try rows.map { row throws(PostgresError) in try PushInstall(row: row) }
    }
}
