internal import EventBus
internal import FCM
internal import Logging
internal import PostgresClient
internal import Storage
internal import WireFormat

/// Claims deliveries, sends them, and writes what became of each: the one way in which a push leaves this service.
///
/// The row of a delivery is the truth: it is claimed before a send and settled or postponed after it, each by
/// compare-and-set. A process that dies in between leaves rows whose lease ends, which ``DueDeliveries`` finds: a push
/// that was sent and not settled is sent again, and replaces itself on the phone.
struct DeliveryDispatcher: Sendable {
    let postgres: PostgresClient
    let sender: DeliverySender
    let limits: DeliveryLimits

    /// Sends a batch; returns when the outcome of every send is committed.
    ///
    /// - Parameters:
    ///   - cause: The event that led to it, whose request id and trace the outcomes carry on.
    ///   - claim: Takes the deliveries, for the given lease.
    /// - Returns: How many were claimed.
    func dispatch(
        causedBy cause: Envelope<NotificationAddressed>? = nil, logger: Logger,
        claiming claim: (DeliveryRepository, Duration) async throws -> [ClaimedDelivery]
    ) async throws -> Int {
        // Taken before the claim, so that ours is the shorter lease.
        let sendBefore = ContinuousClock.now + limits.lease - limits.sendDuration
        let claimed = try await claim(DeliveryRepository(postgres), limits.lease)
        guard !claimed.isEmpty else { return 0 }
        let badges = await Badges.count(for: claimed, postgres, logger: logger)
        let verdicts = await send(claimed, badges, before: sendBefore, logger: logger)
        try await write(verdicts, about: claimed, cause: cause)
        return claimed.count
    }

    /// Sends a batch, `sendsMax` at a time.
    private func send(
        _ claimed: [ClaimedDelivery], _ badges: Badges, before deadline: ContinuousClock.Instant, logger: Logger
    ) async -> [DeliveryVerdict] {
        await withTaskGroup(of: DeliveryVerdict.self) { group in
            var waiting = claimed.makeIterator()
            func startNext() {
                guard let delivery = waiting.next() else { return }
                group.addTask { await sender.send(delivery, badge: badges[delivery], before: deadline, logger: logger) }
            }
            for _ in 0..<limits.sendsMax { startNext() }
            var verdicts: [DeliveryVerdict] = []
            while let verdict = await group.next() {
                verdicts.append(verdict)
                startNext()
            }
            return verdicts
        }
    }

    /// Writes the verdicts of a batch and the events that tell what has ended, in one transaction.
    private func write(
        _ verdicts: [DeliveryVerdict], about claimed: [ClaimedDelivery], cause: Envelope<NotificationAddressed>?
    ) async throws {
        var settlements: [DeliverySettlement] = []
        var postponements: [DeliveryPostponement] = []
        for verdict in verdicts {
            switch verdict {
            case .settle(let settlement): settlements.append(settlement)
            case .postpone(let postponement): postponements.append(postponement)
            case .leave: break
            }
        }
        guard !settlements.isEmpty || !postponements.isEmpty else { return }
        let (ending, waiting) = (settlements, postponements)
        let ended = try await postgres.withTransaction { transaction in
            let deliveries = DeliveryRepository(transaction)
            try await deliveries.postpone(waiting)
            let ended = try await deliveries.settle(ending)
            let events = Self.events(ending.filter { ended.contains($0.id) }, claimed)
            if !events.isEmpty {
                try await OutboxRepository(transaction).publish(
                    events, requestID: cause?.requestID, traceparent: cause?.traceparent)
            }
            return ended
        }
        let kinds = Dictionary(claimed.map { ($0.id, $0.kind) }) { first, _ in first }
        for settlement in ending where ended.contains(settlement.id) {
            if let kind = kinds[settlement.id] { NotifierMetrics.settled(kind, settlement.outcome) }
        }
    }

    /// The events that tell how deliveries ended, one for each notification.
    private static func events(
        _ settlements: [DeliverySettlement], _ claimed: [ClaimedDelivery]
    ) -> [NotificationSettled] {
        let deliveries = Dictionary(claimed.map { ($0.id, $0) }) { first, _ in first }
        let known = settlements.compactMap { settlement in deliveries[settlement.id].map { (settlement, $0) } }
        return Dictionary(grouping: known) { $0.1.notificationID }.map { notificationID, members in
            let outcomes = members.map { settlement, delivery in
                SettledDelivery(
                    deliveryID: settlement.id, installationID: delivery.installID, outcome: settlement.outcome,
                    code: settlement.code)
            }
            return NotificationSettled(notificationID: notificationID, outcomes: outcomes)
        }
    }
}
