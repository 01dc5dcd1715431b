internal import FoundationEssentials
internal import Metrics
internal import Storage
internal import WireFormat

/// The metrics of decided sessions and analysed photos.
enum FaceMatchingMetrics {
    /// Records a session that was decided here, and the time since its upload.
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

    /// Records the analysis of a photo; its duration includes the wait for an engine.
    static func examined(took duration: Duration) {
        Timer(label: "ekyc_photo_seconds").recordNanoseconds(Int64(duration / .nanoseconds(1)))
    }
}
