public import FoundationEssentials
public import JSON

/// Photos of a face were uploaded and wait to be examined; the session's row names the photos and the user.
public struct EkycRequested: Event {
    /// `ekyc.requested`, which is also the name of the stream of the lane ``EkycLane/new``.
    public static var type: EventType { .ekycRequested }
    /// Only face-matching-worker, which examines the photos.
    public static var groups: [String] { ["face-matching-worker"] }
    /// One stream for each lane: `ekyc.requested`, `ekyc.requested.known` and `ekyc.requested.bulk`.
    public static var streams: [String] { EkycLane.allCases.map(stream(of:)) }

    /// The session whose photos are examined; `sessions.id`.
    public var sessionID: UUID
    /// Whether the session is a sign-up or a sign-in.
    public var event: EkycEvent
    /// The lane in which the session waits, which selects the stream.
    public var lane: EkycLane

    /// The id of the session as text, so that the events of a session are published in order.
    public var key: String { sessionID.wireString }
    /// The stream of the event's ``lane``.
    public var stream: String { Self.stream(of: lane) }

    /// The name of the stream of a lane.
    public static func stream(of lane: EkycLane) -> String {
        switch lane {
        case .new: type.rawValue
        case .known, .bulk: "\(type.rawValue).\(lane.rawValue)"
        }
    }

    /// Creates the event that makes face-matching-worker examine the photos of a session.
    public init(sessionID: UUID, event: EkycEvent, lane: EkycLane) {
        self.sessionID = sessionID
        self.event = event
        self.lane = lane
    }

    /// Reads `event`, `lane` and `session_id`; throws if one of them is missing.
    public init(from body: BodyReader) throws(BodyFault) {
        event = try body.read("event")
        lane = try body.read("lane")
        sessionID = try body.read("session_id")
    }

    /// Writes `event`, `lane` and `session_id`.
    public func writeMembers(to body: inout JSONWriter) {
        body.member("event", event)
        body.member("lane", lane)
        body.member("session_id", sessionID)
    }
}
