internal import AsyncPrimitives
internal import EventBus
internal import FoundationEssentials
internal import Logging
internal import PostgresClient
internal import Push
internal import Synchronization

/// Writes the outcomes of pushes, many in one transaction, while others are being sent.
///
/// Outcomes that arrive during a transaction go into the next one, so that batches grow with the load. A batch that cannot be
/// written is retried; when all attempts fail, the leases of its deliveries end and they are sent again, which replaces the
/// notification on the phones.
final class OutcomeWriter: Sendable {
    /// The most outcomes of one transaction.
    static let maxBatch = 4000
    /// Returns how long outcomes are gathered after a transaction of `count` of them: the more there are, the more it would cost to
    /// write them one by one, and the less the delay matters.
    static func linger(after count: Int) -> Duration? {
        switch count {
        case ...8: nil
        case ...100: .milliseconds(15)
        default: .milliseconds(50)
        }
    }
    /// The most attempts to write a batch.
    static let maxAttempts = 5
    private static let backoff = Backoff(min: .milliseconds(200), max: .seconds(2), randomShare: 0)

    /// A push and the verdict on it.
    ///
    /// A class, because it is passed on several times until it is written, and each copy of a verdict would count the references to its
    /// parts.
    final class Entry: Sendable {
        let push: QueuedPush
        let verdict: DeliveryVerdict

        init(push: QueuedPush, verdict: DeliveryVerdict) {
            self.push = push
            self.verdict = verdict
        }

        var isAbandoned: Bool { if case .abandon = verdict { true } else { false } }
    }

    /// The verdicts that are not written yet.
    struct State {
        var entries: [Entry] = []
        var isClosed = false

        /// Removes the entries of the next transaction.
        mutating func takeBatch() -> [Entry] {
            guard entries.count > maxBatch else {
                defer { entries = [] }
                return entries
            }
            defer { entries.removeFirst(maxBatch) }
            return Array(entries.prefix(maxBatch))
        }
    }

    private let postgres: PostgresClient
    private let logger: Logger
    private let clock: any MonotonicClock
    private let state = Mutex(State())
    private let wakeUp = AsyncSignal()

    init(postgres: PostgresClient, logger: Logger, clock: any MonotonicClock) {
        self.postgres = postgres
        self.logger = logger
        self.clock = clock
    }

    /// Queues the verdicts on some pushes for writing.
    func add(_ endings: [Entry]) {
        for entry in endings { entry.push.batch.trace?.ended(entry.verdict) }
        let abandoned = endings.filter(\.isAbandoned)
        for entry in abandoned { entry.push.lease.endOne() }
        let entries = abandoned.isEmpty ? endings : endings.filter { !$0.isAbandoned }
        if entries.isEmpty { return }
        let isFirst = state.withLock { state in
            state.entries += entries
            return state.entries.count == entries.count
        }
        if isFirst { wakeUp.signal() }
    }

    /// Lets ``run()`` return when everything is written.
    func close() {
        state.withLock { $0.isClosed = true }
        wakeUp.signal()
    }

    /// Writes until it is closed.
    func run() async {
        var lastCount = 0
        while true {
            let isClosed = state.withLock { $0.isClosed }
            if let linger = Self.linger(after: lastCount), !isClosed { try? await clock.sleep(for: linger) }
            let (batch, isOver) = state.withLock { state in
                let batch = state.takeBatch()
                return (batch, state.isClosed && batch.isEmpty)
            }
            if isOver { return }
            lastCount = batch.count
            if batch.isEmpty { await wakeUp.waitDespiteCancellation() } else { await write(batch) }
        }
    }

    private func write(_ batch: [Entry]) async {
        // Renewed until here: a lease that ends sooner has the push sent again.
        defer { for entry in batch { entry.push.lease.endOne() } }
        for attempt in 1...Self.maxAttempts {
            do {
                return try await commit(batch)
            } catch {
                logger.warning(
                    "outcomes of pushes could not be written",
                    metadata: ["count": "\(batch.count)", "attempt": "\(attempt)", "error": "\(error)"])
                if attempt < Self.maxAttempts { try? await clock.sleep(for: Self.backoff.delay(afterFailures: attempt)) }
            }
        }
    }

    /// Writes the verdicts of a batch, and the events about its settled deliveries, in one transaction.
    private func commit(_ batch: [Entry]) async throws {
        let latest = Self.latest(batch)
        var settlements: [DeliverySettlement] = []
        var deferrals: [DeliveryDeferral] = []
        for entry in latest {
            switch entry.verdict {
            case .settle(let settlement): settlements.append(settlement)
            case .deferDelivery(let deferral): deferrals.append(deferral)
            case .abandon: break
            }
        }
        let (ending, waiting) = (settlements, deferrals)
        let summary = try await postgres.withTransaction { transaction in
            // A push whose outcome an asynchronous commit loses is sent again when its lease is over, and replaces itself.
            try await transaction.commitAsynchronously()
            try await transaction.forceIndexPlans()
            let deliveries = DeliveryRepository(transaction)
            try await deliveries.deferDeliveries(waiting)
            let summary = SettlementSummary(latest, ended: try await deliveries.settle(ending))
            try await OutboxRepository(transaction).append(summary.events())
            return summary
        }
        NotifierMetrics.settled(summary.counts)
    }

    /// Keeps one entry per delivery, that of its latest attempt: after a database outage longer than a lease, a batch may have two.
    private static func latest(_ batch: [Entry]) -> [Entry] {
        guard Set(batch.map(\.push.delivery.id)).count < batch.count else { return batch }
        var places: [UUID: Int] = [:]
        var latest: [Entry] = []
        latest.reserveCapacity(batch.count)
        for entry in batch {
            let delivery = entry.push.delivery
            if let place = places[delivery.id] {
                if latest[place].push.delivery.attempt < delivery.attempt { latest[place] = entry }
            } else {
                places[delivery.id] = latest.count
                latest.append(entry)
            }
        }
        return latest
    }
}
