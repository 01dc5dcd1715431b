public import Instrumentation

/// What is known, in a task, of the work that it does.
extension InstrumentationContext {
    /// The span that the work belongs to; it is there without any tracer, too, when whoever asked for the work named one.
    public var traceParent: TraceParent? {
        get { self[TraceParentKey.self] }
        set { self[TraceParentKey.self] = newValue }
    }

    /// The id of the HTTP request at the root of it all.
    public var requestID: String? {
        get { self[RequestIDKey.self] }
        set { self[RequestIDKey.self] = newValue }
    }

    /// The id of the message that is being handled, as on the wire.
    public var messageID: String? {
        get { self[MessageIDKey.self] }
        set { self[MessageIDKey.self] = newValue }
    }

    /// What is known of work that a message or a row asks for.
    ///
    /// - Parameter traceparent: The header's value; what is none counts as nothing.
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
