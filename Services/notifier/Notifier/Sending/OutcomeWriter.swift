internal import EventBus
internal import FoundationEssentials
internal import Logging
internal import PostgresClient
internal import Storage
internal import Synchronization
internal import WireFormat

/// Writes what became of pushes, many in one transaction, while others are being sent.
///
/// Whatever ends while a transaction is under way is in the next one, so that batches grow with the load. A batch that
/// cannot be written is tried again; when even that is of no use, the leases of its deliveries end and they are sent again,
/// which replaces what the phones show.
final class OutcomeWriter: Sendable {
    /// The most outcomes of one transaction.
    static let batchMax = 1000
    /// How long outcomes are gathered while many come.
    static let linger: Duration = .milliseconds(15)
    /// So many outcomes of one transaction are many.
    static let many = 8
    /// How often a batch is tried.
    static let attemptsMax = 5

    private struct Entry: Sendable {
        let push: Push
        let verdict: DeliveryVerdict
    }

    private struct State {
        var entries: [Entry] = []
        var isClosed = false
    }

    private let postgres: PostgresClient
    private let logger: Logger
    private let state = Mutex(State())
    private let news = Bell()

    init(postgres: PostgresClient, logger: Logger) {
        self.postgres = postgres
        self.logger = logger
    }

    /// Notes what became of a push.
    func add(_ verdict: DeliveryVerdict, of push: Push) {
        push.batch.trace?.ended(verdict)
        if case .leave = verdict { return }
        let isFirst = state.withLock { state in
            state.entries.append(Entry(push: push, verdict: verdict))
            return state.entries.count == 1
        }
        if isFirst { news.ring() }
    }

    /// Has ``run()`` return when everything is written.
    func close() {
        state.withLock { $0.isClosed = true }
        news.ring()
    }

    /// Writes until it is closed.
    func run() async {
        var lastCount = 0
        while true {
            let isClosed = state.withLock { $0.isClosed }
            if lastCount > Self.many, !isClosed { try? await Task.sleep(for: Self.linger) }
            let (batch, isOver) = state.withLock { state in
                let batch = Array(state.entries.prefix(Self.batchMax))
                state.entries.removeFirst(batch.count)
                return (batch, state.isClosed && batch.isEmpty)
            }
            if isOver { return }
            lastCount = batch.count
            if batch.isEmpty { await news.wait() } else { await write(batch) }
        }
    }

    private func write(_ batch: [Entry]) async {
        for attempt in 1...Self.attemptsMax {
            do {
                return try await commit(batch)
            } catch {
                logger.warning(
                    "outcomes of pushes could not be written",
                    metadata: ["count": "\(batch.count)", "attempt": "\(attempt)", "error": "\(error)"])
                if attempt < Self.attemptsMax { try? await Task.sleep(for: .milliseconds(100 << attempt)) }
            }
        }
    }

    /// Writes the verdicts of a batch and the events that tell what has ended, in one transaction.
    private func commit(_ batch: [Entry]) async throws {
        var endings: [UUID: (push: Push, settlement: DeliverySettlement)] = [:]
        var postponements: [DeliveryPostponement] = []
        for entry in batch {
            switch entry.verdict {
            case .settle(let settlement): endings[settlement.id] = (entry.push, settlement)
            case .postpone(let postponement): postponements.append(postponement)
            case .leave: break
            }
        }
        let leases = Dictionary(grouping: batch.compactMap(\.push.lease), by: ObjectIdentifier.init)
        let finished = leases.values.filter { $0[0].ends(after: $0.count) }.map { $0[0].id }
        let (ending, waiting) = (endings, postponements)
        let ended = try await postgres.withTransaction { transaction in
            // A push whose end is forgotten is sent again when its lease is over, and replaces itself.
            try await transaction.commitAsynchronously()
            try await transaction.findByKey()
            let deliveries = DeliveryRepository(transaction)
            try await deliveries.postpone(waiting)
            let ended = try await deliveries.settle(ending.values.map(\.settlement))
            try await OutboxRepository(transaction).append(Self.events(ended.compactMap { ending[$0] }))
            try await deliveries.release(leases: finished)
            return ended
        }
        for members in leases.values { members[0].ended(members.count) }
        NotifierMetrics.settled(
            ended.lazy.compactMap { endings[$0] }.map { ($0.push.delivery.notification.kind, $0.settlement.outcome) })
    }

    /// The most outcomes of one event, of which each takes some 200 bytes of its 64 KB.
    static let outcomesMax = 200

    /// The events that tell how deliveries ended, one or more for each notification.
    private static func events(_ endings: [(push: Push, settlement: DeliverySettlement)]) throws -> [NewOutboxMessage] {
        try Dictionary(grouping: endings) { $0.push.delivery.notification.id }.flatMap { notificationID, members in
            let cause = members[0].push.batch.cause
            return try stride(from: 0, to: members.count, by: outcomesMax).map { start in
                let outcomes = members[start..<min(start + outcomesMax, members.count)].map { push, settlement in
                    SettledDelivery(
                        deliveryID: settlement.id, installationID: push.delivery.installID, outcome: settlement.outcome,
                        code: settlement.code, sentAt: settlement.sentAt)
                }
                return try NewOutboxMessage(
                    Envelope(
                        NotificationSettled(notificationID: notificationID, outcomes: outcomes),
                        traceparent: cause.traceparent, requestID: cause.requestID))
            }
        }
    }
}
