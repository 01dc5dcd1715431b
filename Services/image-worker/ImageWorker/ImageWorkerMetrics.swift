internal import FoundationEssentials
internal import Metrics
internal import Pictures
internal import WireFormat

/// The metrics of ended jobs and generator calls, from which failure rate and processing time are derived.
enum ImageWorkerMetrics {
    /// Counts an ended job and records the time since its submission.
    static func ended(_ job: ImageJob, _ completion: JobCompletion) {
        var outcome = "completed"
        if case .failed(let failure) = completion { outcome = failure.code.rawValue }
        Counter(label: "image_jobs_ended_total", dimensions: [("status", completion.status.rawValue), ("outcome", outcome)]).increment()
        let seconds = Date().timeIntervalSince(job.createdAt)
        Timer(label: "image_job_seconds", dimensions: [("status", completion.status.rawValue)])
            .recordNanoseconds(Int64(max(0, seconds) * 1e9))
    }

    /// Records the paid calls of the day for all accounts, and their limit; 0 is no limit.
    static func record(callsToday: Int, limit: Int) {
        Gauge(label: "image_paid_calls_today").record(callsToday)
        Gauge(label: "image_paid_calls_limit").record(limit)
    }

    /// Counts a call of a generator and records the time that a picture took.
    static func called(_ generator: String, _ outcome: String, took duration: Duration?) {
        Counter(label: "image_generator_calls_total", dimensions: [("generator", generator), ("outcome", outcome)]).increment()
        guard let duration else { return }
        Timer(label: "image_generation_seconds", dimensions: [("generator", generator)])
            .recordNanoseconds(Int64(duration / .nanoseconds(1)))
    }
}
