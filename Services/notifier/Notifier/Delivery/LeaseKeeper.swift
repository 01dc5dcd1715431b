internal import AsyncPrimitives
internal import Logging
internal import PostgresClient
internal import Push
internal import Synchronization

/// Renews the leases of claimed deliveries until their outcomes are written, so that a lease can be short: when this process dies, others
/// send its pushes soon.
///
/// A lease that cannot be renewed in time is revoked before it ends: its pushes in flight are cancelled, because another sender may claim
/// them then. Most pushes are accepted long before a renewal is due, and need no renewal.
final class LeaseKeeper: Sendable {
    private let postgres: PostgresClient
    private let limits: DeliveryLimits
    private let wakeUp: AsyncSignal
    private let logger: Logger
    private let clock: any MonotonicClock
    private let leases = Mutex<[DeliveryLease]>([])
    private let closed = AsyncLatch()
    private let hasRevoked = Atomic(false)

    /// - Parameter wakeUp: Signalled when pushes in flight have to be cancelled.
    init(postgres: PostgresClient, limits: DeliveryLimits, wakeUp: AsyncSignal, logger: Logger, clock: any MonotonicClock) {
        self.postgres = postgres
        self.limits = limits
        self.wakeUp = wakeUp
        self.logger = logger
        self.clock = clock
    }

    /// Adds the leases of a claim that was begun at `start`, and returns that of each delivery, in order.
    func add(_ claimed: [ClaimedDelivery], claimedAt start: ContinuousClock.Instant) -> [DeliveryLease] {
        let end = start + limits.lease
        // The deliveries of a page follow each other.
        let held = claimed.runs(where: { $0.claim == $1.claim }).map { run in
            (count: run.count, lease: DeliveryLease(claimed[run.lowerBound].claim, count: run.count, until: end))
        }
        leases.withLock { $0 += held.map(\.lease) }
        return held.flatMap { repeatElement($0.lease, count: $0.count) }
    }

    /// Whether leases were revoked since the last call.
    func takeRevocations() -> Bool { hasRevoked.exchange(false, ordering: .acquiring) }

    /// Ends ``run()``.
    func close() { closed.open() }

    /// Renews leases, and revokes those that were not renewed, until it is closed.
    func run() async {
        await withTaskGroup { group in
            // Renewals may wait for the database; leases that end meanwhile are revoked all the same.
            group.addTask { await self.repeatUntilClosed { await self.renew() } }
            group.addTask { await self.repeatUntilClosed { self.revokeOverdue() } }
        }
    }

    private func repeatUntilClosed(_ body: () async -> Void) async {
        while !closed.isOpen, !Task.isCancelled {
            await body()
            await closed.wait(upTo: limits.leaseCheckInterval, clock: clock)
        }
    }

    private func renew() async {
        let start = clock.now
        let due = leases.withLock { leases in
            leases.removeAll { $0.isOver }
            return leases.filter { !$0.isRevoked && $0.end - start <= limits.lease - limits.renewalAge }
        }
        if due.isEmpty { return }
        do {
            let kept = try await DeliveryRepository(postgres).renew(due.map(\.claim), lease: limits.lease)
            for lease in due where kept.contains(lease.claim) { lease.renew(until: start + limits.lease) }
            // Another sender has claimed the others, or they were settled just now.
            revoke(due.filter { !kept.contains($0.claim) && !$0.isOver })
        } catch {
            logger.warning("leases of deliveries could not be renewed", metadata: ["count": "\(due.count)", "error": "\(error)"])
        }
    }

    private func revokeOverdue() {
        let limit = clock.now + limits.leaseMargin
        revoke(leases.withLock { leases in leases.filter { $0.end <= limit && !$0.isOver } })
    }

    private func revoke(_ lost: [DeliveryLease]) {
        let revoked = lost.filter { $0.revoke() }
        if revoked.isEmpty { return }
        logger.warning("leases of deliveries have ended; their pushes in flight are cancelled", metadata: ["count": "\(revoked.count)"])
        hasRevoked.store(true, ordering: .releasing)
        wakeUp.signal()
    }
}
