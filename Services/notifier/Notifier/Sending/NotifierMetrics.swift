internal import FCM
internal import Metrics
internal import Storage
internal import Synchronization
internal import WireFormat

/// Counts pushes, by kind and outcome: what the delivery rate is made of.
enum NotifierMetrics {
    private struct Sends: Hashable {
        var kind: NotificationKind
        var outcome: String
    }

    // Finding a metric by its name and labels costs more than all else that is counted with it, so each is found once.
    private static let sends = Mutex<[Sends: (count: Counter, time: Timer)]>([:])

    /// Notes one send to FCM and how long it took.
    static func sent(_ kind: NotificationKind, _ outcome: FCMOutcome, took duration: Duration) {
        let key = Sends(kind: kind, outcome: word(outcome))
        let (count, time) = sends.withLock { sends in
            if let metrics = sends[key] { return metrics }
            let metrics = (
                Counter(label: "push_sends_total", dimensions: [("kind", kind.rawValue), ("outcome", key.outcome)]),
                Timer(label: "push_send_seconds", dimensions: [("kind", kind.rawValue)])
            )
            sends[key] = metrics
            return metrics
        }
        count.increment()
        time.recordNanoseconds(Int64(duration.inSeconds * 1e9))
    }

    /// Notes deliveries that reached their end.
    static func settled(_ endings: some Sequence<(NotificationKind, DeliveryOutcome)>) {
        var counts: [NotificationKind: [DeliveryOutcome: Int]] = [:]
        for (kind, outcome) in endings { counts[kind, default: [:]][outcome, default: 0] += 1 }
        for (kind, outcomes) in counts {
            for (outcome, count) in outcomes {
                let dimensions = [("kind", kind.rawValue), ("outcome", outcome.rawValue)]
                Counter(label: "push_deliveries_total", dimensions: dimensions).increment(by: count)
            }
        }
    }

    private static func word(_ outcome: FCMOutcome) -> String {
        switch outcome {
        case .accepted: "accepted"
        case .deadTarget: "dead_target"
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
