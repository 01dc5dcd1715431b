internal import FCM
internal import Metrics
internal import Storage
internal import WireFormat

/// Counts pushes, by kind and outcome: what the delivery rate is made of.
enum NotifierMetrics {
    /// Notes one send to FCM and how long it took.
    static func sent(_ kind: NotificationKind, _ outcome: FCMOutcome, took duration: Duration) {
        let dimensions = [("kind", kind.rawValue), ("outcome", word(outcome))]
        Counter(label: "push_sends_total", dimensions: dimensions).increment()
        Timer(label: "push_send_seconds", dimensions: [("kind", kind.rawValue)])
            .recordNanoseconds(Int64(duration.inSeconds * 1e9))
    }

    /// Notes one delivery that reached its end.
    static func settled(_ kind: NotificationKind, _ outcome: DeliveryOutcome) {
        let dimensions = [("kind", kind.rawValue), ("outcome", outcome.rawValue)]
        Counter(label: "push_deliveries_total", dimensions: dimensions).increment()
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
