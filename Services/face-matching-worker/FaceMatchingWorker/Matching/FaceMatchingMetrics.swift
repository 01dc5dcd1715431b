internal import Accounts
internal import FaceEngine
internal import FoundationEssentials
internal import Metrics
internal import WireFormat

/// The metrics of decided sessions and analysed photos.
enum FaceMatchingMetrics {
    private static let success = "succeeded"

    /// Exports a zero for each event and outcome: Prometheus' `rate` does not see the first increment of a series that begins with it.
    static func start() {
        for event in EkycEvent.allCases {
            for result in [Liveness.notPerformed.rawValue, Liveness.passed.rawValue] + LivenessFault.allCases.map(\.rawValue) {
                checked(event, result).increment(by: 0)
            }
            for outcome in [success] + SessionReason.allCases.map(\.rawValue) { ended(event, outcome).increment(by: 0) }
        }
    }

    /// Records a session that was decided here, the time since its upload, and the result of the check for a live person.
    static func decided(_ session: Session, _ outcome: SessionOutcome, _ liveness: LivenessOutcome?) {
        var word = success
        if case .failed(let reason) = outcome { word = reason.rawValue }
        ended(session.event, word).increment()
        switch liveness {
        case nil: checked(session.event, Liveness.notPerformed.rawValue).increment()
        case .passed: checked(session.event, Liveness.passed.rawValue).increment()
        case .failed(let fault): checked(session.event, fault.rawValue).increment()
        }
        let seconds = Date().timeIntervalSince(session.createdAt)
        Timer(label: "ekyc_session_seconds", dimensions: [("event", session.event.rawValue)])
            .recordNanoseconds(Int64(max(0, seconds) * 1e9))
    }

    private static func ended(_ event: EkycEvent, _ outcome: String) -> Counter {
        Counter(label: "ekyc_sessions_ended_total", dimensions: [("event", event.rawValue), ("outcome", outcome)])
    }

    private static func checked(_ event: EkycEvent, _ result: String) -> Counter {
        Counter(label: "ekyc_liveness_checks_total", dimensions: [("event", event.rawValue), ("result", result)])
    }

    /// Records the analysis of a photo; its duration includes the wait for an engine.
    static func examined(took duration: Duration) {
        Timer(label: "ekyc_photo_seconds").recordNanoseconds(Int64(duration / .nanoseconds(1)))
    }
}
