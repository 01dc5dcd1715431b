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
}
