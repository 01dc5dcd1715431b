public import FoundationEssentials

/// A face session reached its terminal state; wakes the requests that wait for it.
public struct EkycCompleted: Event {
    public static var type: EventType { .ekycCompleted }
    public static var groups: [String] { [] }

    @WireUUID public var sessionID: UUID
    public var event: EkycEvent
    public var succeeded: Bool
    /// The reason for a failure; nil when the session succeeded.
    public var reason: SessionReason?

    public var key: String { sessionID.wireString }

    public init(sessionID: UUID, event: EkycEvent, succeeded: Bool, reason: SessionReason? = nil) {
        self.sessionID = sessionID
        self.event = event
        self.succeeded = succeeded
        self.reason = reason
    }

    enum CodingKeys: String, CodingKey {
        case sessionID = "session_id"
        case event
        case succeeded
        case reason
    }
}
