internal import FoundationEssentials
internal import Logging
internal import Metrics
internal import PostgresClient
internal import Storage
internal import WireFormat

/// Believes FCM when it calls tokens dead, unless it calls too many so at once.
///
/// In an outage FCM has called living tokens dead by the thousand. So what it answers is counted, by all instances in one
/// table; above the limits of `PushGuardRule` a dead token makes its installation suspect: it is left alone for an hour, and
/// its next push decides. Installations without a user do not count: any caller of a sign-in can name tokens that never lived, and
/// would have the guard trip by them. What was believed within the last minutes, before the limit was reached, is taken back.
struct InstallPruner {
    let transaction: PostgresTransaction
    let logger: Logger

    /// Prunes what the outcomes call dead, and notes what was reached.
    ///
    /// - Parameter acceptedCount: How many more pushes were accepted.
    func prune(after outcomes: [SettledDelivery], andAccepted acceptedCount: Int) async throws {
        let dead = outcomes.filter { $0.outcome == .dead }
        let reached = outcomes.filter { $0.outcome == .accepted }.map(\.installationID)
        let installs = PushInstallRepository(transaction)
        let deadCount = try await installs.countBound(dead.map(\.installationID))
        let answers = deadCount + acceptedCount + reached.count + outcomes.count { $0.outcome == .failed }
        let guarding = PushGuardRepository(transaction)
        try await guarding.count(sent: answers, dead: deadCount)
        try await installs.markReached(reached)
        guard !dead.isEmpty else { return }
        let state = try await guarding.judge()
        if state.isNew { try await raiseAlarm(state) }
        Gauge(label: "push_guard_tripped").record(state.isTripped ? 1 : 0)
        try await mark(dead, isDoubtful: state.isTripped)
    }

    private func raiseAlarm(_ state: PushGuardState) async throws {
        let since = Date(timeIntervalSinceNow: -PushGuardRule().window.inSeconds)
        let doubted = try await PushInstallRepository(transaction).doubtDead(since: since)
        Counter(label: "push_guard_trips_total").increment()
        Counter(label: "push_installs_suspected_total").increment(by: doubted)
        logger.critical(
            "FCM calls too many tokens dead to be believed: installations are left alone for an hour instead of pruned",
            metadata: ["dead": "\(state.dead)", "answers": "\(state.sent)", "taken_back": "\(doubted)"])
    }

    /// Marks the installations of dead tokens, unless they have registered a new one since the push was sent.
    private func mark(_ dead: [SettledDelivery], isDoubtful: Bool) async throws {
        let sentAt = Dictionary(dead.map { ($0.deliveryID, $0.sentAt) }) { first, _ in first }
        let deliveries = try await DeliveryRepository(transaction).find(ids: Array(sentAt.keys)).filter { $0.state == .dead }
        let pruned = try await PushInstallRepository(transaction).markDead(
            deliveries.map {
                // Who does not say when it was sent, sent it after it was addressed.
                DeadInstall(
                    id: $0.installID, generation: $0.generation, sentAt: sentAt[$0.id].flatMap { $0 } ?? $0.createdAt,
                    code: $0.code ?? "UNREGISTERED")
            }, isDoubtful: isDoubtful)
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

extension Duration {
    fileprivate var inSeconds: Double { Double(components.seconds) }
}
