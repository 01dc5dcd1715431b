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
            throw PostgresError(code: .decoding, message: "an installation conflicted and then was not there")
        }
        return install
    }

    /// Registers installations: makes the unknown ones, renews the known ones. To whom they are bound is not touched, and the value of
    /// one that is bound is replaced only for its own user (``PushRegistration/provenUserID``).
    ///
    /// An unchanged one that was seen within ``PushInstallLimits/seenInterval`` is not written. A dead or suspect one is revived
    /// by a registration newer than that, a value is replaced by a registration newer than the value's own. Of several
    /// registrations of one installation in a batch the newest counts, or the newest of those that somebody has proven.
    ///
    /// - Returns: The rows as they are now, one an installation, in no particular order.
    public func upsertSeen(_ registrations: [PushRegistration]) async throws(PostgresError) -> [PushInstall] {
        let newest = Dictionary(grouping: registrations, by: \.installationKey).values
            .compactMap { $0.max { ($0.provenUserID == nil ? 0 : 1, $0.seenAt) < ($1.provenUserID == nil ? 0 : 1, $1.seenAt) } }
        guard !newest.isEmpty else { return [] }
        try await removeOthers(holding: newest)
        var installs = try installs(await db.query(Self.upsertQuery(newest, userID: nil)))
        // A row that somebody else inserted after this statement began, and that needed no write, shows only to a
        // new snapshot.
        let missing = Set(newest.map(\.installationKey)).subtracting(installs.map(\.installationKey))
        if !missing.isEmpty { installs += try await find(installationKeys: Array(missing)) }
        return installs
    }

    func installs(_ rows: PostgresRows) throws(PostgresError) -> [PushInstall] {
        try rows.map { row throws(PostgresError) in try PushInstall(row: row) }
    }
}
