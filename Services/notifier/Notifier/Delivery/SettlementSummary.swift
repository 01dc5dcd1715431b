internal import EventBus
internal import FoundationEssentials
internal import Storage
internal import WireFormat

/// Sums up the settled deliveries of one transaction, for the events and metrics.
struct SettlementSummary {
    /// The most outcomes of one event: each takes some 200 bytes of its 64 KB.
    static let maxOutcomes = 200

    private struct Notification {
        let cause: Push.Cause
        var acceptedCount = 0
        var outcomes: [SettledDelivery] = []
    }

    /// The number of deliveries by kind and by the metric's word for their outcome.
    private(set) var counts: [NotificationKind: [String: Int]] = [:]
    private var notifications: [UUID: Notification] = [:]

    /// Sums up a batch. Accepted deliveries are only counted, unless their installations were suspect.
    ///
    /// - Parameter ended: The deliveries whose outcome was written.
    init(_ batch: [OutcomeWriter.Entry], ended: Set<UUID>) {
        for (push, verdict) in batch {
            guard case .settle(let settlement) = verdict, ended.contains(settlement.id) else { continue }
            let notification = push.delivery.notification
            counts[notification.kind, default: [:]][NotifierMetrics.word(settlement), default: 0] += 1
            if settlement.outcome == .accepted, push.delivery.target?.isSuspect != true {
                notifications[notification.id, default: Notification(cause: push.batch.cause)].acceptedCount += 1
            } else {
                notifications[notification.id, default: Notification(cause: push.batch.cause)].outcomes.append(
                    SettledDelivery(
                        deliveryID: settlement.id, installationID: push.delivery.installID, outcome: settlement.outcome,
                        code: settlement.code, sentAt: settlement.sentAt))
            }
        }
    }

    /// Returns the events about the settled deliveries, one or more for each notification.
    func events() throws -> [NewOutboxMessage] {
        try notifications.flatMap { id, notification in
            try stride(from: 0, to: max(notification.outcomes.count, 1), by: Self.maxOutcomes).map { start in
                let end = min(start + Self.maxOutcomes, notification.outcomes.count)
                let settled = NotificationSettled(
                    notificationID: id, outcomes: Array(notification.outcomes[start..<end]),
                    acceptedCount: start == 0 && notification.acceptedCount > 0 ? notification.acceptedCount : nil)
                return try NewOutboxMessage(
                    Envelope(settled, traceparent: notification.cause.traceparent, requestID: notification.cause.requestID))
            }
        }
    }
}
