public import FoundationEssentials
public import JSON

/// An image job made progress; for requests that stream it.
public struct ImageProgress: Event {
    /// `image.progress`, which is also the name of the stream.
    public static var type: EventType { .imageProgress }
    /// No group: the event is broadcast, and a lost one is not published again.
    public static var groups: [String] { [] }

    /// The job that made progress; `image_jobs.id`.
    public var jobID: UUID
    /// The status of the job at that time; image-worker publishes only ``ImageJobStatus/processing``.
    public var state: ImageJobStatus
    /// The progress, 0 to 100.
    public var percent: Int

    /// The id of the job, so that its progress is published in order.
    public var key: String { jobID.wireString }

    /// Creates the event; `percent` is a whole number from 0 to 100, which is not checked.
    public init(jobID: UUID, state: ImageJobStatus, percent: Int) {
        self.jobID = jobID
        self.state = state
        self.percent = percent
    }

    /// Reads `job_id`, `percent` and `state`; throws if one of them is missing.
    public init(from body: BodyReader) throws(BodyFault) {
        jobID = try body.read("job_id")
        percent = try body.read("percent")
        state = try body.read("state")
    }

    /// Writes `job_id`, `percent` and `state`.
    public func writeMembers(to body: inout JSONWriter) {
        body.member("job_id", jobID)
        body.member("percent", percent)
        body.member("state", state)
    }
}
