public import Instrumentation

/// The request, the message and the span of a task's work.
extension InstrumentationContext {
    /// The current span; it is also set without a tracer when the request or message carried a trace parent.
    public var traceParent: TraceParent? {
        get { self[TraceParentKey.self] }
        set { self[TraceParentKey.self] = newValue }
    }

    /// The id of the HTTP request that caused the work.
    public var requestID: String? {
        get { self[RequestIDKey.self] }
        set { self[RequestIDKey.self] = newValue }
    }

    /// The id of the message that is being handled, as on the wire.
    public var messageID: String? {
        get { self[MessageIDKey.self] }
        set { self[MessageIDKey.self] = newValue }
    }

    /// Creates the context of work that a message or a row requests.
    ///
    /// - Parameter traceparent: The header's value; an invalid one is ignored.
    public static func work(requestID: String?, traceparent: String?, messageID: String? = nil) -> InstrumentationContext {
        var context = InstrumentationContext.topLevel
        context.requestID = requestID
        context.traceParent = traceparent.flatMap(TraceParent.init)
        context.messageID = messageID
        return context
    }

    private enum TraceParentKey: InstrumentationContextKey {
        typealias Value = TraceParent
        static let nameOverride: String? = "traceparent"
    }

    private enum RequestIDKey: InstrumentationContextKey {
        typealias Value = String
        static let nameOverride: String? = "request_id"
    }

    private enum MessageIDKey: InstrumentationContextKey {
        typealias Value = String
        static let nameOverride: String? = "message_id"
    }
}
