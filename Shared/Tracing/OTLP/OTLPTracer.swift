public import Tracing

/// Creates the spans of a process and propagates traces by the W3C header `traceparent`.
///
/// A span with a parent is sampled if its parent is; the first span of a trace by its trace id (the sampler `parentbased_traceidratio` of
/// OpenTelemetry). Of the spans below a client's span that the client samples, a random share is sampled: clients must not flood the
/// collector.
public final class OTLPTracer: Tracer {
    private static let header = "traceparent"
    private let queue: SpanQueue
    private let sampler: RatioSampler

    init(queue: SpanQueue, sampleRatio: Double) {
        self.queue = queue
        sampler = RatioSampler(ratio: sampleRatio)
    }

    /// Starts a child of the span in `context`, or the first span of a trace.
    public func startSpan<Instant: TracerInstant>(
        _ operationName: String, context: @autoclosure () -> InstrumentationContext, ofKind kind: SpanKind,
        at instant: @autoclosure () -> Instant, function: String, file fileID: String, line: UInt
    ) -> OTLPSpan {
        var context = context()
        let parent = context.traceParent
        let traceID = parent?.traceID ?? .random()
        let isWanted = parent?.isSampled ?? sampler.samples(traceID)
        let isSampled = isWanted && (context.hasForeignParent != true || sampler.samples(.random()))
        context.hasForeignParent = nil
        let identity = TraceParent(traceID: traceID, spanID: .random(), isSampled: isSampled)
        context.traceParent = identity
        return OTLPSpan(
            operationName, context: context, identity: identity, parent: parent?.spanID, kind: kind,
            start: instant().nanosecondsSinceEpoch, queue: isSampled ? queue : nil)
    }

    /// Does nothing: spans are exported every few seconds, and the last ones when the exporter shuts down.
    @available(*, deprecated)
    public func forceFlush() {}

    /// Reads the trace parent from a carrier, such as the headers of a request.
    public func extract<Carrier, Extract: Extractor>(
        _ carrier: Carrier, into context: inout InstrumentationContext, using extractor: Extract
    ) where Extract.Carrier == Carrier {
        context.traceParent = extractor.extract(key: Self.header, from: carrier).flatMap(TraceParent.init)
    }

    /// Writes the trace parent into a carrier.
    public func inject<Carrier, Inject: Injector>(
        _ context: InstrumentationContext, into carrier: inout Carrier, using injector: Inject
    ) where Inject.Carrier == Carrier {
        guard let parent = context.traceParent else { return }
        injector.inject(parent.description, forKey: Self.header, into: &carrier)
    }
}

/// Samples a share of the traces by their id, so that all processes decide alike for all spans of a trace.
struct RatioSampler: Sendable {
    /// Traces whose last 63 bits are below this are sampled.
    private let bound: UInt64

    /// - Parameter ratio: The share, 0 to 1.
    init(ratio: Double) {
        let range = Double(UInt64(1) << 63)
        bound = UInt64(min(max(0, ratio), 1) * range)
    }

    func samples(_ trace: TraceID) -> Bool { trace.low >> 1 < bound }
}
