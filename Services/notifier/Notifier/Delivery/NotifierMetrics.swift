internal import FCM
internal import Metrics
internal import Push
internal import Synchronization
internal import WireFormat

/// Counts pushes and deliveries by kind and outcome, from which the delivery rate is computed.
enum NotifierMetrics {
    private struct Sends: Hashable {
        var kind: NotificationKind
        var outcome: String

        init(_ answer: PushAnswer) {
            kind = answer.push.delivery.notification.kind
            outcome = word(answer.result.outcome)
        }
    }

    private struct Series {
        let count: Counter
        let time: Timer

        init(_ sends: Sends) {
            count = Counter(label: "push_sends_total", dimensions: [("kind", sends.kind.rawValue), ("outcome", sends.outcome)])
            time = Timer(label: "push_send_seconds", dimensions: [("kind", sends.kind.rawValue)])
        }
    }

    // Looking a metric up by its name and labels costs more than all the rest of counting, so each is looked up once.
    private static let series = Mutex<[Sends: Series]>([:])

    /// Records FCM's answers and how long they took.
    static func sent(_ answers: [PushAnswer]) {
        var rest = answers[...]
        while let first = rest.first {
            // Nearly always, all answers are alike.
            let sends = Sends(first)
            let alike = rest.prefix { Sends($0) == sends }
            rest = rest[alike.endIndex...]
            let series = series.withLock { all in
                if let series = all[sends] { return series }
                let series = Series(sends)
                all[sends] = series
                return series
            }
            series.count.increment(by: alike.count)
            for answer in alike { series.time.record(duration: answer.time) }
        }
    }

    /// Records settled deliveries.
    static func settled(_ counts: [NotificationKind: [String: Int]]) {
        for (kind, outcomes) in counts {
            for (outcome, count) in outcomes {
                let dimensions = [("kind", kind.rawValue), ("outcome", outcome)]
                Counter(label: "push_deliveries_total", dimensions: dimensions).increment(by: count)
            }
        }
    }

    /// Returns the outcome of a delivery in `/metrics`. The delivery rate is computed over attempted deliveries, so those that expired
    /// before their first attempt, such as while a breaker was open, have a word of their own.
    static func word(_ settlement: DeliverySettlement) -> String {
        let wasTried = settlement.sentAt != nil || settlement.attempt > 1
        return settlement.outcome == .expired && !wasTried ? "expired_unsent" : settlement.outcome.rawValue
    }

    private static func word(_ outcome: FCMOutcome) -> String {
        switch outcome {
        case .accepted: "accepted"
        case .deadTarget: "dead_target"
        case .foreignTarget: "foreign_target"
        case .badPayload: "bad_payload"
        case .providerAuth: "provider_auth"
        case .config: "config"
        case .ourAuth: "our_auth"
        case .quota: "quota"
        case .transient: "transient"
        case .notSent: "not_sent"
        case .ambiguous: "ambiguous"
        case .cancelled: "cancelled"
        }
    }
}
