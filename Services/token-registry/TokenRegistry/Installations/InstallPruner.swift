internal import FoundationEssentials
internal import Logging
internal import Metrics
internal import PostgresClient
internal import Push
internal import WireFormat

/// Prunes the installations whose tokens FCM reports as dead, unless it reports too many at once.
///
/// In an outage FCM has reported living tokens as dead by the thousand. So all instances count its answers in one table; above the
/// limits of `PushGuardRule` the guard trips, and a dead token makes its installation suspect: it gets no push for an hour, and its
/// next push decides. When the guard trips, installations pruned within the rule's window become suspect as well. Installations
/// without a user do not count: any caller of a sign-in can send tokens that never existed, and could trip the guard with them.
struct InstallPruner {
    let transaction: PostgresTransaction
    let logger: Logger

    /// Prunes the installations of dead tokens, and marks the installations that accepted a push.
    ///
    /// - Parameter acceptedCount: The number of accepted pushes that are not in `outcomes`.
    func apply(outcomes: [SettledDelivery], acceptedCount: Int) async throws {
        let dead = outcomes.filter { $0.outcome == .dead }
        let reached = outcomes.filter { $0.outcome == .accepted }.map(\.installationID)
        let installs = PushInstallRepository(transaction)
        let deadCount = try await installs.countBound(dead.map(\.installationID))
        let answers = deadCount + acceptedCount + reached.count + outcomes.count { $0.outcome == .failed }
        let guarding = PushGuardRepository(transaction)
        try await guarding.count(sent: answers, dead: deadCount)
        try await installs.markReached(reached)
        guard !dead.isEmpty else { return }
        let state = try await guarding.evaluate()
        if state.isNew { try await tripGuard(state) }
        Gauge(label: "push_guard_tripped").record(state.isTripped ? 1 : 0)
        try await mark(dead, isGuardTripped: state.isTripped)
    }

    private func tripGuard(_ state: PushGuardState) async throws {
        let since = Date(timeIntervalSinceNow: -(PushGuardRule().window / .seconds(1)))
        let reverted = try await PushInstallRepository(transaction).revertToSuspect(since: since)
        Counter(label: "push_guard_trips_total").increment()
        Counter(label: "push_installs_suspected_total").increment(by: reverted)
        logger.critical(
            "FCM reports too many dead tokens: the guard has tripped, installations become suspect for an hour instead of being pruned",
            metadata: ["dead": "\(state.dead)", "answers": "\(state.sent)", "reverted": "\(reverted)"])
    }

    /// Marks the installations of dead tokens invalid, or suspect while the guard is tripped, unless they have registered a new token
    /// since the push was sent.
    private func mark(_ dead: [SettledDelivery], isGuardTripped: Bool) async throws {
        let sentAt = Dictionary(dead.map { ($0.deliveryID, $0.sentAt) }) { first, _ in first }
        let deliveries = try await DeliveryRepository(transaction).find(ids: Array(sentAt.keys)).filter { $0.state == .dead }
        let pruned = try await PushInstallRepository(transaction).markDead(
            deliveries.map {
                // An outcome without a send time: the push was sent after its delivery was created.
                DeadInstall(
                    id: $0.installID, generation: $0.generation, sentAt: sentAt[$0.id].flatMap { $0 } ?? $0.createdAt,
                    code: $0.code ?? "UNREGISTERED")
            }, isGuardTripped: isGuardTripped)
        for delivery in deliveries where pruned.invalid.contains(delivery.installID) {
            logger.notice(
                "dead installation pruned",
                metadata: [
                    "installation_id": "\(delivery.installID.wireString)",
                    "notification_id": "\(delivery.notificationID.wireString)", "code": "\(delivery.code ?? "")",
                ])
        }
        Counter(label: "push_installs_pruned_total").increment(by: pruned.invalid.count)
        Counter(label: "push_installs_suspected_total").increment(by: pruned.suspect.count)
    }
}
