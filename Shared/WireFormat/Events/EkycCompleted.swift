public import FoundationEssentials
public import JSON

/// A face session reached its terminal state; wakes the requests that wait for it.
public struct EkycCompleted: Event {
    /// `ekyc.completed`, which is also the name of the stream.
    public static var type: EventType { .ekycCompleted }
    /// No group: the event is broadcast, and a lost one is not published again.
    public static var groups: [String] { [] }

    /// The session that has ended; `sessions.id`.
    public var sessionID: UUID
    /// Whether the session was a sign-up or a sign-in.
    public var event: EkycEvent
    /// Whether the session succeeded; if not, ``reason`` says why.
    public var succeeded: Bool
    /// The reason for a failure; nil when the session succeeded.
    public var reason: SessionReason?

    /// The id of the session as text, so that the events of a session are published in order.
    public var key: String { sessionID.wireString }

    /// Creates the event; `reason` is to be given exactly when the session did not succeed.
    public init(sessionID: UUID, event: EkycEvent, succeeded: Bool, reason: SessionReason? = nil) {
        self.sessionID = sessionID
        self.event = event
        self.succeeded = succeeded
        self.reason = reason
    }

    /// Reads `event`, `session_id` and `succeeded`, and `reason` if it is there.
    public init(from body: BodyReader) throws(BodyFault) {
        event = try body.read("event")
        reason = try body.readIfPresent("reason")
        sessionID = try body.read("session_id")
        succeeded = try body.read("succeeded")
    }

    /// Writes `event`, `reason` unless it is nil, `session_id` and `succeeded`.
    public func writeMembers(to body: inout JSONWriter) {
        body.member("event", event)
        body.member("reason", reason)
        body.member("session_id", sessionID)
        body.member("succeeded", succeeded)
    }
}
