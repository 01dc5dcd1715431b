internal import HTTPClient
public import Logging
internal import Metrics
public import ServiceLifecycle

/// Sends ended spans to a collector by OTLP over HTTP, in batches, as JSON.
///
/// No work waits for it: spans that cannot be sent are dropped and counted in `trace_spans_dropped_total`. It has to be among the
/// last of a process to shut down, for then it sends what is left.
///
/// Source: https://opentelemetry.io/docs/specs/otlp/#otlphttp
public final class OTLPExporter: Service {
    /// Who made the spans, and the version of the names and attributes that they have.
    static let scope = (name: "heliograph", version: "1")

    /// Makes the spans that this sends.
    public let tracer: OTLPTracer
    private let configuration: OTLPConfiguration
    private let queue: SpanQueue
    private let logger: Logger
    private let exported = Counter(label: "trace_spans_exported_total")

    /// Makes an exporter and its tracer; nothing is sent before it runs.
    public init(configuration: OTLPConfiguration, logger: Logger) {
        self.configuration = configuration
        self.logger = logger
        queue = SpanQueue(spansMax: configuration.waitingSpansMax, batchMax: configuration.batchMax)
        tracer = OTLPTracer(queue: queue, sampleRatio: configuration.sampleRatio)
    }

    /// Sends until graceful shutdown or cancellation, then what is left, for ``OTLPConfiguration/flushTimeout`` at most.
    public func run() async throws {
        let collector = Collector(configuration, logger: logger)
        // In a task of its own, for the last exports come after a cancellation.
        let sending = Task { await send(to: collector) }
        await withTaskCancellationOrGracefulShutdownHandler {
            await sending.value
        } onCancelOrGracefulShutdown: {
            self.queue.close()
        }
        await collector.close()
    }

    /// When the last exports have to be over; nil while the process is not ending.
    private var deadline: ContinuousClock.Instant? { queue.closedAt.map { $0 + configuration.flushTimeout } }

    private func send(to collector: Collector) async {
        var isDelivering = true
        var isOver = false
        while !isOver {
            await queue.wait(upTo: configuration.interval)
            // What is added from now on comes after everything else has ended.
            isOver = queue.closedAt != nil
            while case let batch = queue.take(), !batch.isEmpty {
                let failure = await deliver(batch, to: collector)
                if let failure, isDelivering { logger.warning("traces cannot be delivered", metadata: ["reason": "\(failure)"]) }
                if failure == nil, !isDelivering { logger.notice("traces are delivered again") }
                isDelivering = failure == nil
            }
        }
    }

    /// Sends a batch, again where that makes sense; says why it was dropped, if it was.
    private func deliver(_ batch: [FinishedSpan], to collector: Collector) async -> String? {
        let body = TraceRequest(resource: configuration.resource, scope: Self.scope, spans: batch).encoded()
        var attempt = 1
        while true {
            let timeout = deadline.map { min($0 - .now, configuration.exportTimeout) } ?? configuration.exportTimeout
            guard timeout > .zero else { return drop(batch.count, "shutdown", "the process ends") }
            switch await collector.export(body, timeout: timeout) {
            case .taken(let rejected):
                exported.increment(by: max(0, batch.count - rejected))
                return rejected > 0 ? drop(rejected, "refused", "the collector refused some spans") : nil
            case .refused(let reason): return drop(batch.count, "refused", reason)
            case .unavailable(let reason, let asked):
                guard attempt < configuration.attemptsMax else { return drop(batch.count, "unreachable", reason) }
                await rest(asked.map { min($0, configuration.retryWaitMax) } ?? wait(before: attempt + 1))
                attempt += 1
            }
        }
    }

    private func drop(_ count: Int, _ kind: String, _ reason: String) -> String {
        Counter(label: "trace_spans_dropped_total", dimensions: [("reason", kind)]).increment(by: count)
        return reason
    }

    /// How long to wait before a try when nobody says; varied, so that processes do not come back together.
    private func wait(before attempt: Int) -> Duration {
        let grown = (2..<attempt).reduce(configuration.retryWaitMin) { wait, _ in wait * 1.5 }
        return min(grown, configuration.retryWaitMax) * Double.random(in: 0.8...1.2)
    }

    /// Waits before another try; the end of the process cuts the wait short.
    private func rest(_ pause: Duration) async {
        if let deadline {
            try? await Task.sleep(until: min(.now + pause, deadline))
            return
        }
        let end = ContinuousClock.now + pause
        while queue.closedAt == nil, case let left = end - .now, left > .zero { await queue.wait(upTo: left) }
    }
}
