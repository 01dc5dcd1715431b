public import FoundationEssentials
public import JSON

/// An image job made progress; for requests that stream it.
public struct ImageProgress: Event {
    public static var type: EventType { .imageProgress }
    public static var groups: [String] { [] }

    public var jobID: UUID
    public var state: ImageJobStatus
    /// The progress, 0 to 100.
    public var percent: Int

    public var key: String { jobID.wireString }

    public init(jobID: UUID, state: ImageJobStatus, percent: Int) {
        self.jobID = jobID
        self.state = state
        self.percent = percent
    }

    public init(from body: BodyReader) throws(BodyFault) {
        jobID = try body.read("job_id")
        percent = try body.read("percent")
        state = try body.read("state")
    }

    public func writeMembers(to body: inout JSONWriter) {
        body.member("job_id", jobID)
        body.member("percent", percent)
        body.member("state", state)
    }
}
