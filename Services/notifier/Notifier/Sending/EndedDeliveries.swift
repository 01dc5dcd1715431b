internal import EventBus
internal import FoundationEssentials
internal import Storage
internal import WireFormat

/// What is told of the deliveries of a transaction that have ended.
struct EndedDeliveries {
    /// The most outcomes of one event, of which each takes some 200 bytes of its 64 KB.
    static let outcomesMax = 200

    private struct Notification {
        let cause: Push.Cause
        var acceptedCount = 0
        var outcomes: [SettledDelivery] = []
    }

    /// How many there are, by kind and the metric's word for their outcome.
    private(set) var counts: [NotificationKind: [String: Int]] = [:]
    private var notifications: [UUID: Notification] = [:]

    /// Sums up a batch. Of those that were accepted there is nothing to say but how many, unless their installations were under
    /// suspicion.
    ///
    /// - Parameter ended: The deliveries whose end was written.
    init(_ batch: [OutcomeWriter.Entry], ended: Set<UUID>) {
        for (push, verdict) in batch {
            guard case .settle(let settlement) = verdict, ended.contains(settlement.id) else { continue }
            let told = push.delivery.notification
            counts[told.kind, default: [:]][NotifierMetrics.word(settlement), default: 0] += 1
            if settlement.outcome == .accepted, push.delivery.target?.isSuspect != true {
                notifications[told.id, default: Notification(cause: push.batch.cause)].acceptedCount += 1
            } else {
                notifications[told.id, default: Notification(cause: push.batch.cause)].outcomes.append(
                    SettledDelivery(
                        deliveryID: settlement.id, installationID: push.delivery.installID, outcome: settlement.outcome,
                        code: settlement.code, sentAt: settlement.sentAt))
            }
        }
    }

    /// The events that tell it, one or more for each notification.
    func events() throws -> [NewOutboxMessage] {
        try notifications.flatMap { id, told in
            try stride(from: 0, to: max(told.outcomes.count, 1), by: Self.outcomesMax).map { start in
                let settled = NotificationSettled(
                    notificationID: id,
                    outcomes: Array(told.outcomes[start..<min(start + Self.outcomesMax, told.outcomes.count)]),
                    acceptedCount: start == 0 && told.acceptedCount > 0 ? told.acceptedCount : nil)
                return try NewOutboxMessage(
                    Envelope(settled, traceparent: told.cause.traceparent, requestID: told.cause.requestID))
            }
        }
    }
}
