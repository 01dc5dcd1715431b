internal import EventBus
internal import FCM
internal import FoundationEssentials
internal import Logging
internal import PostgresClient
internal import ServiceLifecycle
internal import Storage
internal import WireFormat

/// Sends the deliveries of a notification and stays with them until each has ended.
///
/// The row of a delivery is the truth: it is claimed before a send and settled after it, each by compare-and-set. The
/// event is acknowledged when all rows have ended, so a process that dies leaves work that the next delivery of the
/// event finds: a push that was sent and not settled is sent again, and replaces itself on the phone.
struct NotificationAddressedHandler: EventHandler {
    let postgres: PostgresClient
    let sender: DeliverySender
    let pauses: LanePauses
    let limits: DeliveryLimits

    func handle(_ event: Envelope<NotificationAddressed>, _ context: HandlerContext) async throws {
        while true {
            try await sendWhatIsDue(event, logger: context.logger)
            guard let wait = try await waitForTheRest(of: event.body) else { break }
            // A shutdown ends the wait; whoever is given the event next goes on where the rows say.
            try await cancelWhenGracefulShutdown { try await Task.sleep(for: wait) }
        }
        _ = try await context.commit { _ in }
    }

    private func sendWhatIsDue(_ event: Envelope<NotificationAddressed>, logger: Logger) async throws {
        var rest = event.body.deliveryIDs[...]
        while !rest.isEmpty {
            let lane = event.body.lane
            try await cancelWhenGracefulShutdown { try await pauses.wait(lane) }
            let claimed = try await DeliveryRepository(postgres).claim(
                Array(rest.prefix(limits.batchSize)), lease: limits.lease)
            rest = rest.dropFirst(limits.batchSize)
            if claimed.isEmpty { continue }
            let verdicts = await send(claimed, logger: logger)
            try await write(verdicts, about: claimed, cause: event)
        }
    }

    /// Sends a batch, `sendsMax` at a time.
    private func send(_ claimed: [ClaimedDelivery], logger: Logger) async -> [DeliveryVerdict] {
        await withTaskGroup(of: DeliveryVerdict.self) { group in
            var waiting = claimed.makeIterator()
            func startNext() {
                guard let delivery = waiting.next() else { return }
                group.addTask { await send(delivery, logger: logger) }
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

    private func send(_ delivery: ClaimedDelivery, logger: Logger) async -> DeliveryVerdict {
        let start = ContinuousClock.now
        let (verdict, outcome) = await sender.send(delivery, logger: logger)
        if let outcome {
            NotifierMetrics.sent(delivery.kind, outcome, took: .now - start)
            if case .quota(let wait) = outcome { pauses.pause(delivery.lane, for: wait) }
        }
        return verdict
    }

    /// Writes the verdicts of a batch; what has ended and the event that says so are one transaction.
    private func write(
        _ verdicts: [DeliveryVerdict], about claimed: [ClaimedDelivery], cause: Envelope<NotificationAddressed>
    ) async throws {
        var settlements: [DeliverySettlement] = []
        for verdict in verdicts {
            switch verdict {
            case .settle(let settlement): settlements.append(settlement)
            case .postpone(let id, let delay, let code):
                try await DeliveryRepository(postgres).postpone([id], by: delay, code: code)
            case .leave: break
            }
        }
        guard !settlements.isEmpty else { return }
        let batch = settlements
        let ended = try await postgres.withTransaction { transaction in
            let ended = try await DeliveryRepository(transaction).settle(batch)
            let outcomes = Self.outcomes(batch.filter { ended.contains($0.id) }, claimed)
            if !outcomes.isEmpty {
                try await OutboxRepository(transaction).publish(
                    NotificationSettled(notificationID: cause.body.notificationID, outcomes: outcomes), causedBy: cause)
            }
            return ended
        }
        let kinds = Dictionary(claimed.map { ($0.id, $0.kind) }) { first, _ in first }
        for settlement in batch where ended.contains(settlement.id) {
            if let kind = kinds[settlement.id] { NotifierMetrics.settled(kind, settlement.outcome) }
        }
    }

    private static func outcomes(
        _ settlements: [DeliverySettlement], _ claimed: [ClaimedDelivery]
    ) -> [SettledDelivery] {
        let installs = Dictionary(claimed.map { ($0.id, $0.installID) }) { first, _ in first }
        return settlements.compactMap { settlement in
            installs[settlement.id].map {
                SettledDelivery(
                    deliveryID: settlement.id, installationID: $0, outcome: settlement.outcome, code: settlement.code)
            }
        }
    }

    /// Returns how long to wait for the deliveries that have not ended, or nil when all have.
    private func waitForTheRest(of body: NotificationAddressed) async throws -> Duration? {
        let open = try await DeliveryRepository(postgres).find(ids: body.deliveryIDs).filter { !$0.state.isTerminal }
        let times = open.map { $0.state == .sending ? $0.leaseUntil ?? $0.nextAt : $0.nextAt }
        guard let first = times.min() else { return nil }
        let wait = Duration.seconds(first.timeIntervalSince(sender.clock()))
        return min(max(wait, limits.sleep.lowerBound), limits.sleep.upperBound)
    }
}
