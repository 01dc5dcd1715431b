import Testing
import Tracing

@testable import HeliographTracing

@Suite struct OTLPTracerTests {
    private let queue = SpanQueue(maxSpans: 10, maxBatchSize: 10)
    private struct Failure: Error {}

    private struct Headers: Injector, Extractor {
        func inject(_ value: String, forKey key: String, into carrier: inout [String: String]) { carrier[key] = value }
        func extract(key: String, from carrier: [String: String]) -> String? { carrier[key] }
    }

    @Test func `a child span is in the trace of its parent`() throws {
        let tracer = OTLPTracer(queue: queue, sampleRatio: 1)
        tracer.withSpan("outer") { _ in tracer.withSpan("inner", ofKind: .client) { _ in } }
        let spans = queue.take()
        #expect(spans.map(\.name) == ["inner", "outer"])
        #expect(spans[0].identity.traceID == spans[1].identity.traceID)
        #expect(spans[0].parent == spans[1].identity.spanID && spans[1].parent == nil)
        #expect(spans[1].start <= spans[0].start && spans[0].end <= spans[1].end)
    }

    @Test(arguments: [true, false])
    func `a span with a remote parent is sampled if the parent is`(isSampled: Bool) throws {
        let tracer = OTLPTracer(queue: queue, sampleRatio: isSampled ? 0 : 1)
        let parent = TraceParent(traceID: .random(), spanID: .random(), isSampled: isSampled)
        var context = InstrumentationContext.topLevel
        tracer.extract(["traceparent": parent.description], into: &context, using: Headers())
        let span = tracer.startSpan("work", context: context)
        var carrier: [String: String] = [:]
        tracer.inject(span.context, into: &carrier, using: Headers())
        span.end()
        let handed = try #require(carrier["traceparent"].flatMap(TraceParent.init))
        #expect(handed.traceID == parent.traceID && handed.spanID != parent.spanID && handed.isSampled == isSampled)
        #expect(queue.take().map(\.parent) == (isSampled ? [parent.spanID] : []))
    }

    @Test(arguments: [0.0, 1.0], [false, true])
    func `a client's trace goes on, and is sampled if the client and the ratio say so`(ratio: Double, isWanted: Bool) {
        let tracer = OTLPTracer(queue: queue, sampleRatio: ratio)
        let client = TraceParent(traceID: .random(), spanID: .random(), isSampled: isWanted)
        let span = tracer.startSpan("request", context: .below(client, isForeign: true), ofKind: .server)
        let isSampled = isWanted && ratio == 1
        #expect(span.context.traceParent?.traceID == client.traceID && span.context.traceParent?.isSampled == isSampled)
        let child = tracer.startSpan("query", context: span.context)
        #expect(child.context.traceParent?.isSampled == isSampled)
        child.end()
        span.end()
    }

    @Test func `a share of new traces is sampled, the same in every process`() {
        let sampler = RatioSampler(ratio: 0.25)
        let ids = (0..<10_000).map { _ in TraceID.random() }
        let sampled = ids.count { sampler.samples($0) }
        #expect((2_000...3_000).contains(sampled))
        #expect(ids.allSatisfy { RatioSampler(ratio: 1).samples($0) && !RatioSampler(ratio: 0).samples($0) })
    }

    @Test func `only the type of an error is kept, not its message`() {
        let tracer = OTLPTracer(queue: queue, sampleRatio: 1)
        _ = try? tracer.withSpan("work") { _ in throw Failure() }
        let span = queue.take()[0]
        #expect(span.status == .error)
        #expect(span.attributes == ["error.type": "Failure"])
    }

    @Test func `a span ends once`() {
        let span = OTLPTracer(queue: queue, sampleRatio: 1).startSpan("work")
        span.end()
        span.end()
        #expect(queue.take().count == 1)
    }

    @Test func `a full queue accepts no more spans`() {
        let tracer = OTLPTracer(queue: queue, sampleRatio: 1)
        for _ in 0..<12 { tracer.startSpan("work").end() }
        #expect(queue.take().count == 10)
        #expect(queue.take().isEmpty)
    }
}
