internal import HTTPTypes

extension HTTPField.Name {
    /// The request's id in responses and logs.
    static let requestID = HTTPField.Name("X-Request-ID")!
    /// The session token, which the device that started the session gets.
    static let sessionToken = HTTPField.Name("X-Session-Token")!
    /// A proof of a device's key, and the nonce for the next one (RFC 9449).
    static let dpop = HTTPField.Name("DPoP")!
    static let dpopNonce = HTTPField.Name("DPoP-Nonce")!
    /// The Firebase installation id of the sender's app, or its FCM token, for bearers that are not bound to an installation.
    static let installation = HTTPField.Name("X-Firebase-Installation-ID")!
    /// The addresses that a request came from, appended by each proxy.
    static let forwardedFor = HTTPField.Name("X-Forwarded-For")!
    /// W3C trace context.
    static let traceparent = HTTPField.Name("traceparent")!
    /// Marks requests with the same value as repetitions of one.
    static let idempotencyKey = HTTPField.Name("Idempotency-Key")!
    /// Marks a response as a repetition of an earlier one.
    static let idempotentReplayed = HTTPField.Name("Idempotent-Replayed")!
    /// The client's preferences (RFC 7240), and the applied ones.
    static let prefer = HTTPField.Name("Prefer")!
    static let preferenceApplied = HTTPField.Name("Preference-Applied")!
    /// The reason for a client's request: a push, a timer, or the app's launch.
    static let clientTrigger = HTTPField.Name("X-Client-Trigger")!
    /// The id of the last server-sent event that a client received.
    static let lastEventID = HTTPField.Name("Last-Event-ID")!
    /// The limits that the request counted against, and their remaining quota.
    static let rateLimitPolicy = HTTPField.Name("RateLimit-Policy")!
    static let rateLimit = HTTPField.Name("RateLimit")!
    /// Tells nginx not to buffer events.
    static let accelBuffering = HTTPField.Name("X-Accel-Buffering")!
}
