public import Instrumentation

extension InstrumentationContext {
    /// The current span.
    public var traceParent: TraceParent? {
        get { self[TraceParentKey.self] }
        set { self[TraceParentKey.self] = newValue }
    }

    /// Creates a context whose spans are children of that span; nil begins a trace.
    public static func below(_ parent: TraceParent?) -> InstrumentationContext {
        var context = InstrumentationContext.topLevel
        context.traceParent = parent
        return context
    }

    private enum TraceParentKey: InstrumentationContextKey {
        typealias Value = TraceParent
        static let nameOverride: String? = "heliograph.traceparent"
    }
}
