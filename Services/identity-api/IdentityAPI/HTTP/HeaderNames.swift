internal import HTTPTypes

extension HTTPField.Name {
    /// Names a request in answers and logs.
    static let requestID = HTTPField.Name("X-Request-ID")!
    /// The device's key to the session it started.
    static let sessionToken = HTTPField.Name("X-Session-Token")!
    /// W3C trace context.
    static let traceparent = HTTPField.Name("traceparent")!
}
