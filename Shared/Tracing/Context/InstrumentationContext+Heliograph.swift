public import FoundationEssentials
public import Instrumentation

/// The request, the message and the span of a task's work.
extension InstrumentationContext {
    /// The current span; it is also set without a tracer when the request or message carried a trace parent.
    public var traceParent: TraceParent? {
        get { work.traceParent }
        set { work.traceParent = newValue }
    }

    /// The id of the HTTP request that caused the work.
    public var requestID: String? {
        get { work.requestID }
        set { work.requestID = newValue }
    }

    /// The id of the message that is being handled.
    public var messageID: UUID? {
        get { work.messageID }
        set { work.messageID = newValue }
    }

    /// Creates the context of work that a message or a row requests.
    ///
    /// - Parameter traceparent: The header's value; an invalid one is ignored.
    public static func work(requestID: String?, traceparent: String?, messageID: UUID? = nil) -> InstrumentationContext {
        var context = InstrumentationContext.topLevel
        context.work = Work(
            traceParent: traceparent.flatMap(TraceParent.init), requestID: requestID, messageID: messageID)
        return context
    }

    /// One value for all: a lookup in a context costs more than the rest of making one, and every message has one.
    private struct Work {
        var traceParent: TraceParent?
        var requestID: String?
        var messageID: UUID?
    }

    private var work: Work {
        get { self[WorkKey.self] ?? Work() }
        set { self[WorkKey.self] = newValue }
    }

    private enum WorkKey: InstrumentationContextKey {
        typealias Value = Work
        static let nameOverride: String? = "heliograph.work"
    }
}
