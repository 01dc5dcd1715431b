internal import HTTPTypes

extension HTTPField.Name {
    /// Names a request in answers and logs.
    static let requestID = HTTPField.Name("X-Request-ID")!
    /// The device's key to the session it started.
    static let sessionToken = HTTPField.Name("X-Session-Token")!
    /// Whom a proxy got the request from.
    static let forwardedFor = HTTPField.Name("X-Forwarded-For")!
    /// W3C trace context.
    static let traceparent = HTTPField.Name("traceparent")!
    /// Says that two requests are the same one.
    static let idempotencyKey = HTTPField.Name("Idempotency-Key")!
    /// Says that an answer was given before.
    static let idempotentReplayed = HTTPField.Name("Idempotent-Replayed")!
    /// What a client would like best (RFC 7240), and what was done about it.
    static let prefer = HTTPField.Name("Prefer")!
    static let preferenceApplied = HTTPField.Name("Preference-Applied")!
    /// What made a client ask: a push, its own clock, or its start.
    static let clientTrigger = HTTPField.Name("X-Client-Trigger")!
    /// The last event that a reader of server-sent events has.
    static let lastEventID = HTTPField.Name("Last-Event-ID")!
    /// Tells nginx not to hold events back.
    static let accelBuffering = HTTPField.Name("X-Accel-Buffering")!
}
