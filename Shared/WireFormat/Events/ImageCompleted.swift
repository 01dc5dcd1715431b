public import FoundationEssentials
public import JSON

/// An image job reached its terminal state; wakes the requests that wait for it.
public struct ImageCompleted: Event {
    /// `image.completed`, which is also the name of the stream.
    public static var type: EventType { .imageCompleted }
    /// No group: the event is broadcast, and a lost one is not published again.
    public static var groups: [String] { [] }

    /// The job that has ended; `image_jobs.id`.
    public var jobID: UUID
    /// The terminal state of the job: ``ImageJobStatus/completed`` or ``ImageJobStatus/failed``.
    public var status: ImageJobStatus

    /// The id of the job as text, so that the events of a job are published in order.
    public var key: String { jobID.wireString }

    /// Creates the event about a job that has ended; `status` is its terminal state.
    public init(jobID: UUID, status: ImageJobStatus) {
        self.jobID = jobID
        self.status = status
    }

    /// Reads `job_id` and `status`; throws if one of them is missing.
    public init(from body: BodyReader) throws(BodyFault) {
        jobID = try body.read("job_id")
        status = try body.read("status")
    }

    /// Writes `job_id` and `status`.
    public func writeMembers(to body: inout JSONWriter) {
        body.member("job_id", jobID)
        body.member("status", status)
    }
}
