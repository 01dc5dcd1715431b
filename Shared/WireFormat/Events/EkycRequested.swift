public import FoundationEssentials

/// Photos of a face were uploaded and wait to be examined; the session's row names the photos and the user.
public struct EkycRequested: Event {
    public static var type: EventType { .ekycRequested }
    public static var groups: [String] { ["face-matching-worker"] }
    public static var streams: [String] { EkycLane.allCases.map(stream(of:)) }

    @WireUUID public var sessionID: UUID
    public var event: EkycEvent
    public var lane: EkycLane

    public var key: String { sessionID.wireString }
    public var stream: String { Self.stream(of: lane) }

    /// The name of the stream of a lane.
    public static func stream(of lane: EkycLane) -> String {
        switch lane {
        case .new: type.rawValue
        case .known: "\(type.rawValue).\(lane.rawValue)"
        }
    }

    public init(sessionID: UUID, event: EkycEvent, lane: EkycLane) {
        self.sessionID = sessionID
        self.event = event
        self.lane = lane
    }

    enum CodingKeys: String, CodingKey {
        case sessionID = "session_id"
        case event, lane
    }
}
