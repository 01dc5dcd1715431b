public import Instrumentation

extension InstrumentationContext {
    /// The current span.
    public var traceParent: TraceParent? {
        get { self[TraceParentKey.self] }
        set { self[TraceParentKey.self] = newValue }
    }

    private enum TraceParentKey: InstrumentationContextKey {
        typealias Value = TraceParent
        static let nameOverride: String? = "heliograph.traceparent"
    }
}
