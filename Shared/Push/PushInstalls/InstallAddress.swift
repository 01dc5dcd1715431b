public import FoundationEssentials
internal import PostgresClient
public import WireFormat

/// The address of an installation: the columns of a `PushInstall` that planning deliveries needs, without its token.
public struct InstallAddress: Sendable, Equatable {
    /// The installation.
    public let id: UUID
    /// Its generation; a push to an older one is sent only while its user is the same.
    public let generation: Int64
    /// The user signed in on it.
    public let userID: UUID?
    let state: PushInstall.State
    let suspectUntil: Date?

    /// Whether a notification of this lane is sent to it now.
    public func isReachable(on lane: Lane, at time: Date = Date()) -> Bool {
        state == .suspect ? suspectUntil.map { $0 <= time } ?? false : Self.states(reachableOn: lane).contains(state)
    }

    /// Returns the states in which a notification of a lane is sent to an installation. A suspect installation gets pushes of every lane,
    /// but not before ``suspectUntil``.
    private static func states(reachableOn lane: Lane) -> [PushInstall.State] { lane == .bulk ? [.active] : [.active, .stale] }

    /// Makes the SQL condition of ``isReachable(on:at:)``, now, for `push_installs` with the alias `i`.
    package static func isReachable(on lane: Lane) -> String {
        let states = states(reachableOn: lane).map { "'\($0.rawValue)'" }.joined(separator: ", ")
        return "(i.state IN (\(states)) OR i.state = 'suspect' AND i.suspect_until <= now())"
    }

    /// The columns that ``init(row:)`` reads, from `push_installs` with the alias `i`.
    static let columns = "i.id, i.generation, i.user_id, i.state, i.suspect_until"

    /// A subquery for the installations of the member `m.user_id`, without dead ones.
    ///
    /// Its limit, which equals that of a user's installations, makes the planner use an index lookup: without fresh statistics it would
    /// join all installations to a part of a topic's members (920 ms instead of 16 ms, with 300,000 installations).
    package static let ofMember = """
        SELECT i.id, i.generation, i.user_id, i.state, i.suspect_until FROM push_installs i
        WHERE i.user_id = m.user_id AND i.state <> 'invalid' LIMIT \(PushInstallLimits.maxPerUser)
        """
}

extension InstallAddress {
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
    /// The address of the installation.
    public var address: InstallAddress { InstallAddress(self) }
}
