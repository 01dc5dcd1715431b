public import FoundationEssentials
public import JSON

/// A face session reached its terminal state; wakes the requests that wait for it.
public struct EkycCompleted: Event {
    public static var type: EventType { .ekycCompleted }
    public static var groups: [String] { [] }

    public var sessionID: UUID
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

    public init(from body: BodyReader) throws(BodyFault) {
        event = try body.read("event")
        reason = try body.readIfPresent("reason")
        sessionID = try body.read("session_id")
        succeeded = try body.read("succeeded")
    }

    public func writeMembers(to body: inout JSONWriter) {
        body.member("event", event)
        body.member("reason", reason)
        body.member("session_id", sessionID)
        body.member("succeeded", succeeded)
    }
}
