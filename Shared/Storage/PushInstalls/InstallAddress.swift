public import FoundationEssentials
internal import PostgresClient
public import WireFormat

/// An installation as something to push to: what addressing needs of a `PushInstall`, and no value.
public struct InstallAddress: Sendable, Equatable {
    /// The installation.
    public let id: UUID
    /// Its generation; a push to an older one is sent only while its user is the same.
    public let generation: Int64
    /// The user signed in on it.
    public let userID: UUID?
    let state: PushInstall.State
    let suspectUntil: Date?

    /// Whether a notification of this lane goes to it now.
    public func isReachable(on lane: Lane, at time: Date = Date()) -> Bool {
        switch state {
        case .active: true
        case .stale: lane != .bulk
        case .suspect: suspectUntil.map { $0 <= time } ?? false
        case .invalid: false
        }
    }

    /// What ``init(row:)`` reads, of the row of `push_installs` named `i`.
    static let columns = "i.id, i.generation, i.user_id, i.state, i.suspect_until"

    /// A subquery of the living installations of the member `m.user_id`.
    ///
    /// Its limit, which is that of a user's installations anyway, keeps it a probe of an index: a server without fresh
    /// statistics would join all installations there are to a page of members (920 ms, not 16 ms, with 300,000).
    static let ofMember = """
        SELECT i.id, i.generation, i.user_id, i.state, i.suspect_until FROM push_installs i
        WHERE i.user_id = m.user_id AND i.state <> 'invalid' LIMIT \(PushInstallLimits.perUserMax)
        """

    init(row: PostgresRow) throws(PostgresError) {
        id = try row.decode("id")
        generation = try row.decode("generation")
        userID = try row.decode("user_id")
        state = try row.decodeCase("state")
        suspectUntil = try row.decode("suspect_until")
    }

    init(_ install: PushInstall) {
        id = install.id
        generation = install.generation
        userID = install.userID
        state = install.state
        suspectUntil = install.suspectUntil
    }
}

extension PushInstall {
    /// The installation as something to push to.
    public var address: InstallAddress { InstallAddress(self) }
}
