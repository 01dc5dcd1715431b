public import FoundationEssentials
public import JSON

/// A picture was ordered; the job's row has the details.
public struct ImageRequested: Event {
    public static var type: EventType { .imageRequested }
    public static var groups: [String] { ["image-worker"] }
    public static var streams: [String] { ImageLane.allCases.map(stream(of:)) }

    public var jobID: UUID
    public var lane: ImageLane

    public var key: String { jobID.wireString }
    public var stream: String { Self.stream(of: lane) }

    /// The name of the stream of a lane.
    public static func stream(of lane: ImageLane) -> String {
        switch lane {
        case .standard: type.rawValue
        case .bulk: "\(type.rawValue).\(lane.rawValue)"
        }
    }

    public init(jobID: UUID, lane: ImageLane = .standard) {
        self.jobID = jobID
        self.lane = lane
    }

    public init(from body: BodyReader) throws(BodyFault) {
        jobID = try body.read("job_id")
        lane = try body.read("lane")
    }

    public func writeMembers(to body: inout JSONWriter) {
        body.member("job_id", jobID)
        body.member("lane", lane)
    }
}
