public import FoundationEssentials

/// Photos of a face were uploaded and wait to be examined; the session's row says which and for whom.
public struct EkycRequested: Event {
    public static var type: EventType { .ekycRequested }
    public static var groups: [String] { ["face-matching-worker"] }

    @WireUUID public var sessionID: UUID
    public var event: EkycEvent

    public var key: String { sessionID.wireString }

    public init(sessionID: UUID, event: EkycEvent) {
        self.sessionID = sessionID
        self.event = event
    }

    enum CodingKeys: String, CodingKey {
        case sessionID = "session_id"
        case event
    }
}
