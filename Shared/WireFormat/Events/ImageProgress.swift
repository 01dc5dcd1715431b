public import FoundationEssentials

/// An image job moved on; for requests that stream its progress.
public struct ImageProgress: Event {
    public static var type: EventType { .imageProgress }
    public static var groups: [String] { [] }

    @WireUUID public var jobID: UUID
    public var state: ImageJobStatus
    /// How much is done, 0 to 100.
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
