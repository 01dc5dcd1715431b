public import Instrumentation

extension InstrumentationContext {
    /// The current span.
    public var traceParent: TraceParent? {
        get { self[TraceParentKey.self] }
        set { self[TraceParentKey.self] = newValue }
    }

    /// Creates a context whose spans are children of that span; nil begins a trace.
    ///
    /// - Parameter isForeign: Whether a client names the span: then its sampled flag, and the trace id that it chose, do not suffice for
    ///   the next span to be sampled.
    public static func below(_ parent: TraceParent?, isForeign: Bool = false) -> InstrumentationContext {
        var context = InstrumentationContext.topLevel
        context.traceParent = parent
        if isForeign { context.hasForeignParent = true }
        return context
    }

    /// Whether the parent is a client's; `nil` for no.
    var hasForeignParent: Bool? {
        get { self[ForeignParentKey.self] }
        set { self[ForeignParentKey.self] = newValue }
    }

    private enum ForeignParentKey: InstrumentationContextKey { typealias Value = Bool }

    private enum TraceParentKey: InstrumentationContextKey {
        typealias Value = TraceParent
        static let nameOverride: String? = "heliograph.traceparent"
    }
}
