internal import EventBus
internal import FoundationEssentials
internal import PostgresClient
internal import Storage

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
    let rows: [Row]
    let outbox: Outbox

    init(takenAt: Date, rows: [Row], outbox: Outbox) {
        self.takenAt = takenAt
        self.rows = rows
        self.outbox = outbox
    }

    /// Queries both servers. The figures of one group in Redis are consistent; different groups are read one after the other.
    init(_ transport: RedisEventTransport, _ postgres: PostgresClient) async throws {
        var rows: [Row] = []
        let deadLetters = try await DeadLetterRepository(postgres).backlogs(of: KnownGroups.all.flatMap(\.groups))
        for (stream, groups) in KnownGroups.all {
            for group in groups {
                let status = try await transport.status(of: group)
                rows.append(
                    Row(stream: stream, group: group.name, status: status, deadLetters: deadLetters[group] ?? DeadLetterBacklog()))
            }
            if groups.isEmpty {
                // No group has an empty name, so this status has only the stream's own figures.
                let status = try await transport.status(of: StreamGroup(stream: stream, name: ""))
                rows.append(Row(stream: stream, group: nil, status: status))
            }
        }
        let backlog = try await OutboxRepository(postgres).backlog()
        func age(_ date: Date?) -> Duration? { date.map { .seconds(max(0, -$0.timeIntervalSinceNow)) } }
        let outbox = Outbox(
            waiting: backlog.waiting, oldestWaitingAge: age(backlog.oldestWaitingAt), unconfirmed: backlog.unconfirmed,
            oldestUnconfirmedAge: age(backlog.oldestUnconfirmedAt))
        self.init(takenAt: Date(), rows: rows, outbox: outbox)
    }
}
