public import FoundationEssentials

/// A picture was ordered; the job's row has the details.
public struct ImageRequested: Event {
    public static var type: EventType { .imageRequested }
    public static var groups: [String] { ["image-worker"] }

    @WireUUID public var jobID: UUID

    public var key: String { jobID.wireString }

    public init(jobID: UUID) {
        self.jobID = jobID
    }

    enum CodingKeys: String, CodingKey {
        case jobID = "job_id"
    }
}
