public import FoundationEssentials

/// An image job reached its terminal state; wakes the requests that wait for it.
public struct ImageCompleted: Event {
    public static var type: EventType { .imageCompleted }
    public static var groups: [String] { [] }

    @WireUUID public var jobID: UUID
    public var status: ImageJobStatus

    public var key: String { jobID.wireString }

    public init(jobID: UUID, status: ImageJobStatus) {
        self.jobID = jobID
        self.status = status
    }

    enum CodingKeys: String, CodingKey {
        case jobID = "job_id"
        case status
    }
}
