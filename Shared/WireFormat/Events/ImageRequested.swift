public import FoundationEssentials
public import JSON

/// A picture was ordered; the job's row has the details.
public struct ImageRequested: Event {
    public static var type: EventType { .imageRequested }
    public static var groups: [String] { ["image-worker"] }

    public var jobID: UUID

    public var key: String { jobID.wireString }

    public init(jobID: UUID) {
        self.jobID = jobID
    }

    public init(from body: BodyReader) throws(BodyFault) {
        jobID = try body.read("job_id")
    }

    public func writeMembers(to body: inout JSONWriter) {
        body.member("job_id", jobID)
    }
}
