public import FoundationEssentials
public import JSON

/// An image job reached its terminal state; wakes the requests that wait for it.
public struct ImageCompleted: Event {
    public static var type: EventType { .imageCompleted }
    public static var groups: [String] { [] }

    public var jobID: UUID
    public var status: ImageJobStatus

    public var key: String { jobID.wireString }

    public init(jobID: UUID, status: ImageJobStatus) {
        self.jobID = jobID
        self.status = status
    }

    public init(from body: BodyReader) throws(BodyFault) {
        jobID = try body.read("job_id")
        status = try body.read("status")
    }

    public func writeMembers(to body: inout JSONWriter) {
        body.member("job_id", jobID)
        body.member("status", status)
    }
}
