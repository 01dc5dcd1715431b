public import FoundationEssentials

/// An image job made progress; for requests that stream it.
public struct ImageProgress: Event {
    public static var type: EventType { .imageProgress }
    public static var groups: [String] { [] }

    @WireUUID public var jobID: UUID
    public var state: ImageJobStatus
    /// The progress, 0 to 100.
    public var percent: Int

    public var key: String { jobID.wireString }

    public init(jobID: UUID, state: ImageJobStatus, percent: Int) {
        self.jobID = jobID
        self.state = state
        self.percent = percent
    }

    enum CodingKeys: String, CodingKey {
        case jobID = "job_id"
        case state
        case percent
    }
}
