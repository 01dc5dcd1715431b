internal import EventBus
internal import FoundationEssentials
internal import PostgresClient
internal import Storage

/// How all groups and the outbox stand at one time.
struct BusSnapshot: Sendable {
    /// A stream and one of its groups.
    struct Row: Sendable {
        let stream: String
        /// Nil for a stream that is only broadcast.
        let group: String?
        let status: GroupStatus

        /// How long the oldest entry waits that the group has not settled.
        var oldestAge: Duration? {
            [status.oldestUndeliveredAge, status.oldestPendingAge].compactMap { $0 }.max()
        }

        /// What the group still has before it.
        var backlog: Int { status.undelivered + status.pending }
    }

    /// What the outbox owes.
    struct Outbox: Sendable {
        /// How many messages wait for the relay.
        var waiting = 0
        /// How long the oldest of them has waited.
        var oldestWaitingAge: Duration?
        /// How many are published and not known to be handled.
        var unconfirmed = 0
        /// How long ago the oldest of them was committed.
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

    /// Asks both servers. Each group is looked at in one step; the groups are not at the same instant.
    init(_ transport: RedisEventTransport, _ postgres: PostgresClient) async throws {
        var rows: [Row] = []
        for (stream, groups) in KnownGroups.all {
            for group in groups {
                rows.append(Row(stream: stream, group: group.name, status: try await transport.status(of: group)))
            }
            if groups.isEmpty {
                // A group without a name exists nowhere: what is left is the stream's own part.
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
