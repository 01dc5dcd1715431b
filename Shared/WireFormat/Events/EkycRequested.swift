public import FoundationEssentials
public import JSON

/// Photos of a face were uploaded and wait to be examined; the session's row names the photos and the user.
public struct EkycRequested: Event {
    public static var type: EventType { .ekycRequested }
    public static var groups: [String] { ["face-matching-worker"] }
    public static var streams: [String] { EkycLane.allCases.map(stream(of:)) }

    public var sessionID: UUID
    public var event: EkycEvent
    public var lane: EkycLane

    public var key: String { sessionID.wireString }
    public var stream: String { Self.stream(of: lane) }

    /// The name of the stream of a lane.
    public static func stream(of lane: EkycLane) -> String {
        switch lane {
        case .new: type.rawValue
        case .known, .bulk: "\(type.rawValue).\(lane.rawValue)"
        }
    }

    public init(sessionID: UUID, event: EkycEvent, lane: EkycLane) {
        self.sessionID = sessionID
        self.event = event
        self.lane = lane
    }

    public init(from body: BodyReader) throws(BodyFault) {
        event = try body.read("event")
        lane = try body.read("lane")
        sessionID = try body.read("session_id")
    }

    public func writeMembers(to body: inout JSONWriter) {
        body.member("event", event)
        body.member("lane", lane)
        body.member("session_id", sessionID)
    }
}
