internal import Accounts
internal import AsyncPrimitives
internal import EventBus
internal import FoundationEssentials
internal import Logging
internal import Metrics
internal import PostgresClient
internal import ServiceDefaults
internal import ServiceLifecycle
internal import WireFormat

/// Asks the services again that have not reported an erasure, and completes an erasure when all services have reported it.
///
/// The remaining work is in the rows of the erasures, so that a crash or a lost message cannot end an erasure; any number of instances may
/// run.
struct ErasureCoordinator: Service {
    /// The services that keep data of users.
    static let services = UserErased.groups
    /// The time after which a service is asked again.
    private static let republishTime = Duration.seconds(10)
    private static let batchSize = 50

    let postgres: PostgresClient
    let receiptKey: ErasureReceiptKey
    /// The address of the installation, which receipts name as their issuer.
    let issuer: String
    let logger: Logger
    var interval: Duration = .seconds(1)
    /// The time after which requests that were authenticated before an erasure began have been answered.
    var quietTime: Duration = .seconds(30)
    var clock: any MonotonicClock = ContinuousClock()

    func run() async throws {
        await periodically("erasures", every: interval, logger: logger, clock: clock) {
            try await republish()
            try await completeReported()
            let open = try await ErasureRepository(postgres).open()
            Gauge(label: "erasures_open").record(open.count)
            Gauge(label: "erasures_oldest_open_seconds").record(open.oldestSeconds)
        }
    }

    /// Publishes the event of erasures again that lack a report.
    func republish() async throws {
        while true {
            let count = try await postgres.withTransaction { transaction in
                let ids = try await ErasureRepository(transaction).takeUnreported(
                    services: Self.services, olderThan: Self.republishTime, limit: Self.batchSize)
                try await OutboxRepository(transaction).publish(ids.map { UserErased(erasureID: $0) })
                return ids.count
            }
            guard count == Self.batchSize else { return }
        }
    }

    /// Completes the erasures that all services have reported.
    func completeReported() async throws {
        // An erasure that has to wait is left out, so that those behind it get their turn.
        var waiting: [UUID] = []
        while let (id, isCompleted) = try await completeNext(except: waiting) {
            if !isCompleted { waiting.append(id) }
        }
    }

    private func completeNext(except waiting: [UUID]) async throws -> (id: UUID, isCompleted: Bool)? {
        try await postgres.withTransaction { transaction in
            let erasures = ErasureRepository(transaction)
            guard
                let erasure = try await erasures.lockReported(services: Self.services, olderThan: quietTime, except: waiting)
            else { return nil }
            guard try await !erasures.hasRemains(of: erasure) else {
                try await erasures.reopen(erasure.id)
                logger.info("rows were added during an erasure; the services are asked again", metadata: ["erasure": "\(erasure.id)"])
                return (erasure.id, false)
            }
            let now = Date()
            let counts = try await erasures.complete(erasure)
            for (table, count) in counts.sorted(by: { $0.key < $1.key }) {
                try await erasures.add(count, of: table, to: erasure.id, by: IdentityAPI.name)
            }
            let status = try await erasures.status(id: erasure.id, tokenHash: nil)
            let receipt = ErasureReceipt(
                issuer: issuer, erasureID: erasure.id, scope: erasure.scope.rawValue, subjectHash: erasure.subjectHash,
                requestedAt: erasure.requestedAt, completedAt: now,
                erased: Dictionary(uniqueKeysWithValues: (status?.reports ?? []).map { ($0.service, $0.counts) }))
            try await erasures.store(receipt: receipt.signed(by: receiptKey), of: erasure.id, at: now)
            let subject = erasure.scope == .account ? erasure.id : erasure.userID
            let action = erasure.scope == .account ? AuditAction.accountErased : .faceErased
            try await AuditRepository(transaction).append(
                AuditEntry(action, by: .system(IdentityAPI.name), on: subject, object: erasure.id))
            logger.notice("erasure completed", metadata: ["erasure": "\(erasure.id)", "scope": "\(erasure.scope.rawValue)"])
            Timer(label: "erasure_seconds").recordSeconds(now.timeIntervalSince(erasure.requestedAt))
            return (erasure.id, true)
        }
    }
}
