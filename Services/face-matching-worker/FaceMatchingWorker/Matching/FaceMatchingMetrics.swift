internal import FoundationEssentials
internal import Metrics
internal import Storage
internal import WireFormat

/// Counts the sessions that are decided and the photos that are looked at.
enum FaceMatchingMetrics {
    /// Notes one session that reached its end here, and the time since its upload.
    static func decided(_ session: Session, _ outcome: SessionOutcome) {
        var word = "succeeded"
        if case .failed(let reason) = outcome { word = reason.rawValue }
        Counter(
            label: "ekyc_sessions_ended_total", dimensions: [("event", session.event.rawValue), ("outcome", word)]
        ).increment()
        let seconds = Date().timeIntervalSince(session.createdAt)
        Timer(label: "ekyc_session_seconds", dimensions: [("event", session.event.rawValue)])
            .recordNanoseconds(Int64(max(0, seconds) * 1e9))
    }

    /// Notes one photo that was looked at, the wait for an engine included.
    static func examined(took duration: Duration) {
        Timer(label: "ekyc_photo_seconds").recordNanoseconds(Int64(duration / .nanoseconds(1)))
    }
}
