public import FoundationEssentials
public import JSON

/// A picture was ordered; the job's row has the details.
public struct ImageRequested: Event {
    /// `image.requested`, which is also the name of the stream of the standard lane.
    public static var type: EventType { .imageRequested }
    /// Only image-worker, which makes the picture.
    public static var groups: [String] { ["image-worker"] }
    /// One stream for each lane: `image.requested` and `image.requested.bulk`.
    public static var streams: [String] { ImageLane.allCases.map(stream(of:)) }

    /// The job to run; `image_jobs.id`.
    public var jobID: UUID
    /// The lane in which the job waits, which selects the stream.
    public var lane: ImageLane

    /// The id of the job as text, so that the events of a job are published in order.
    public var key: String { jobID.wireString }
    /// The stream of the event's ``lane``.
    public var stream: String { Self.stream(of: lane) }

    /// The name of the stream of a lane.
    public static func stream(of lane: ImageLane) -> String {
        switch lane {
        case .standard: type.rawValue
        case .bulk: "\(type.rawValue).\(lane.rawValue)"
        }
    }

    /// Creates the event that makes image-worker run a job.
    public init(jobID: UUID, lane: ImageLane = .standard) {
        self.jobID = jobID
        self.lane = lane
    }

    /// Reads `job_id` and `lane`; throws if one of them is missing.
    public init(from body: BodyReader) throws(BodyFault) {
        jobID = try body.read("job_id")
        lane = try body.read("lane")
    }

    /// Writes `job_id` and `lane`.
    public func writeMembers(to body: inout JSONWriter) {
        body.member("job_id", jobID)
        body.member("lane", lane)
    }
}
