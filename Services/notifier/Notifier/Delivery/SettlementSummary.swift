internal import EventBus
internal import FoundationEssentials
internal import Push
internal import WireFormat

/// Sums up the settled deliveries of one transaction, for the events and metrics.
struct SettlementSummary {
    /// The most outcomes of one event: each takes some 200 bytes of its 64 KB.
    static let maxOutcomes = 200

    /// The settled deliveries of one notification.
    private struct Sum {
        let notification: ClaimedNotification
        let cause: QueuedPush.Cause
        /// The accepted deliveries that are only counted.
        var acceptedCount = 0
        var outcomes: [SettledDelivery] = []
    }

    /// The number of deliveries by kind and by the metric's word for their outcome.
    private(set) var counts: [NotificationKind: [String: Int]] = [:]
    private var sums: [Sum] = []
    private var indices: [UUID: Int] = [:]

    /// Sums up a batch. Accepted deliveries are only counted, unless their installations were suspect.
    ///
    /// - Parameter ended: The deliveries whose outcome was written.
    init(_ batch: [OutcomeWriter.Entry], ended: Set<UUID>) {
        var (last, index): (ClaimedNotification?, Int) = (nil, 0)
        for entry in batch {
            let push = entry.push
            guard case .settle(let settlement) = entry.verdict, ended.contains(settlement.id) else { continue }
            // Deliveries of a notification are mostly adjacent.
            if last !== push.delivery.notification { (last, index) = (push.delivery.notification, indexOfSum(for: push)) }
            if settlement.outcome == .accepted, push.delivery.target?.isSuspect != true {
                sums[index].acceptedCount += 1
            } else {
                counts[push.delivery.notification.kind, default: [:]][NotifierMetrics.word(settlement), default: 0] += 1
                sums[index].outcomes.append(
                    SettledDelivery(
                        deliveryID: settlement.id, installationID: push.delivery.installID, outcome: settlement.outcome,
                        code: settlement.code, sentAt: settlement.sentAt))
            }
        }
        for sum in sums where sum.acceptedCount > 0 {
            counts[sum.notification.kind, default: [:]][DeliveryOutcome.accepted.rawValue, default: 0] += sum.acceptedCount
        }
    }

    private mutating func indexOfSum(for push: QueuedPush) -> Int {
        let notification = push.delivery.notification
        if let index = indices[notification.id] { return index }
        sums.append(Sum(notification: notification, cause: push.batch.cause))
        indices[notification.id] = sums.count - 1
        return sums.count - 1
    }

    /// Returns the events about the settled deliveries, one or more for each notification.
    func events() throws -> [NewOutboxMessage] {
        try sums.flatMap { sum in
            try stride(from: 0, to: max(sum.outcomes.count, 1), by: Self.maxOutcomes).map { start in
                let end = min(start + Self.maxOutcomes, sum.outcomes.count)
                let settled = NotificationSettled(
                    notificationID: sum.notification.id, outcomes: Array(sum.outcomes[start..<end]),
                    acceptedCount: start == 0 && sum.acceptedCount > 0 ? sum.acceptedCount : nil)
                return try NewOutboxMessage(
                    Envelope(settled, traceparent: sum.cause.traceparent, requestID: sum.cause.requestID))
            }
        }
    }
}
