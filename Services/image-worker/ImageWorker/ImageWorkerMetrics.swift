internal import FoundationEssentials
internal import Metrics
internal import Storage
internal import WireFormat

/// Counts jobs that end and calls of generators: what the failure rate and the processing time are made of.
enum ImageWorkerMetrics {
    /// Notes one job that reached its end, and the time since its upload.
    static func ended(_ job: ImageJob, _ end: JobEnd) {
        var outcome = "completed"
        if case .failed(let failure) = end { outcome = failure.code.rawValue }
        Counter(label: "image_jobs_ended_total", dimensions: [("status", end.status.rawValue), ("outcome", outcome)]).increment()
        let seconds = Date().timeIntervalSince(job.createdAt)
        Timer(label: "image_job_seconds", dimensions: [("status", end.status.rawValue)])
            .recordNanoseconds(Int64(max(0, seconds) * 1e9))
    }

    /// Notes one call of a generator, and how long a picture took.
    static func called(_ generator: String, _ outcome: String, took duration: Duration?) {
        Counter(label: "image_generator_calls_total", dimensions: [("generator", generator), ("outcome", outcome)]).increment()
        guard let duration else { return }
        Timer(label: "image_generation_seconds", dimensions: [("generator", generator)])
            .recordNanoseconds(Int64(duration / .nanoseconds(1)))
    }
}
