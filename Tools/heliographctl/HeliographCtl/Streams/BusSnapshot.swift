internal import EventBus
internal import FoundationEssentials
internal import PostgresClient

/// The state of all groups and of the outbox at one time.
struct BusSnapshot: Sendable {
    /// A stream and one of its groups.
    struct Row: Sendable {
        let stream: String
        /// Nil for a stream without consumer groups.
        let group: String?
        let status: GroupStatus
        /// The dead letters of the group.
        var deadLetters = DeadLetterBacklog()

        /// Age of the oldest entry that the group has not settled.
        var oldestAge: Duration? {
            [status.oldestUndeliveredAge, status.oldestPendingAge].compactMap { $0 }.max()
        }

        /// Entries that the group has not settled.
        var backlog: Int { status.undelivered + status.pending }
    }

    /// The unfinished messages of the outbox.
    struct Outbox: Sendable {
        /// Messages that wait for the relay.
        var waiting = 0
        /// Age of the oldest waiting message.
        var oldestWaitingAge: Duration?
        /// Messages that are published but not yet known to be handled.
        var unconfirmed = 0
        /// Age of the oldest unconfirmed message, since its commit.
        var oldestUnconfirmedAge: Duration?
    }

    let takenAt: Date
    private(set) var rows: [Row]
    private(set) var outbox: Outbox

    init(takenAt: Date, rows: [Row], outbox: Outbox) {
        self.takenAt = takenAt
        self.rows = rows
        self.outbox = outbox
    }

    /// Queries both servers.
    init(_ transport: RedisEventTransport, _ postgres: PostgresClient) async throws {
        var snapshot = BusSnapshot(takenAt: Date(), rows: try await Self.rows(transport), outbox: Outbox())
        try await snapshot.read(postgres)
        self = snapshot
    }

    /// Queries Redis: all groups, without their dead letters. The figures of one group are consistent; different groups are read one after
    /// the other.
    static func rows(_ transport: RedisEventTransport) async throws -> [Row] {
        var rows: [Row] = []
        for (stream, groups) in KnownGroups.all {
            for group in groups {
                rows.append(Row(stream: stream, group: group.name, status: try await transport.status(of: group)))
            }
            if groups.isEmpty {
                // No group has an empty name, so this status has only the stream's own figures.
                let status = try await transport.status(of: StreamGroup(stream: stream, name: ""))
                rows.append(Row(stream: stream, group: nil, status: status))
            }
        }
        return rows
    }

    /// The rows of all groups, without figures.
    static var emptyRows: [Row] {
        KnownGroups.all.flatMap { stream, groups in groups.map { Row(stream: stream, group: $0.name, status: GroupStatus()) } }
    }

    /// Queries the database: the dead letters of the rows, and the outbox.
    mutating func read(_ postgres: PostgresClient) async throws {
        let deadLetters = try await DeadLetterRepository(postgres).backlogs(of: KnownGroups.all.flatMap(\.groups))
        for index in rows.indices {
            guard let group = rows[index].group else { continue }
            rows[index].deadLetters = deadLetters[StreamGroup(stream: rows[index].stream, name: group)] ?? DeadLetterBacklog()
        }
        let backlog = try await OutboxRepository(postgres).backlog()
        func age(_ date: Date?) -> Duration? { date.map { .seconds(max(0, -$0.timeIntervalSinceNow)) } }
        outbox = Outbox(
            waiting: backlog.waiting, oldestWaitingAge: age(backlog.oldestWaitingAt), unconfirmed: backlog.unconfirmed,
            oldestUnconfirmedAge: age(backlog.oldestUnconfirmedAt))
    }
}
