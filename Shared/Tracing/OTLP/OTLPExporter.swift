internal import HTTPClient
public import Logging
internal import Metrics
public import ServiceLifecycle

/// Sends ended spans to a collector by OTLP over HTTP, in batches, as JSON.
///
/// No work waits for it: spans that cannot be sent are dropped and counted in `trace_spans_dropped_total`. It has to be shut down
/// last in a process, because it then sends the remaining spans.
///
/// Source: https://opentelemetry.io/docs/specs/otlp/#otlphttp
public final class OTLPExporter: Service {
    /// The instrumentation scope: the library, and the version of the names and attributes of its spans.
    static let scope = (name: "heliograph", version: "1")

    /// Creates the spans that this exporter sends.
    public let tracer: OTLPTracer
    private let configuration: OTLPConfiguration
    private let queue: SpanQueue
    private let logger: Logger
    private let exported = Counter(label: "trace_spans_exported_total")

    /// Creates an exporter and its tracer; nothing is sent before ``run()``.
    public init(configuration: OTLPConfiguration, logger: Logger) {
        self.configuration = configuration
        self.logger = logger
        queue = SpanQueue(maxSpans: configuration.maxWaitingSpans, maxBatchSize: configuration.maxBatchSize)
        tracer = OTLPTracer(queue: queue, sampleRatio: configuration.sampleRatio)
    }

    /// Sends spans until graceful shutdown or cancellation, then the remaining ones for up to ``OTLPConfiguration/flushTimeout``.
    public func run() async throws {
        let collector = Collector(configuration, logger: logger)
        // An unstructured task, because the last exports happen after a cancellation.
        let sending = Task { await send(to: collector) }
        await withTaskCancellationOrGracefulShutdownHandler {
            await sending.value
        } onCancelOrGracefulShutdown: {
            self.queue.close()
        }
        await collector.close()
    }

    /// The deadline of the last exports; nil before the shutdown.
    private var deadline: ContinuousClock.Instant? { queue.closedAt.map { $0 + configuration.flushTimeout } }

    private func send(to collector: Collector) async {
        var isDelivering = true
        var isOver = false
        while !isOver {
            await queue.wait(upTo: configuration.interval)
            // After the close the queue is drained a last time: all other components have ended and add no more spans.
            isOver = queue.closedAt != nil
            while case let batch = queue.take(), !batch.isEmpty {
                let failure = await deliver(batch, to: collector)
                if let failure, isDelivering { logger.warning("traces cannot be delivered", metadata: ["reason": "\(failure)"]) }
                if failure == nil, !isDelivering { logger.notice("traces are delivered again") }
                isDelivering = failure == nil
            }
        }
    }

    /// Sends a batch with retries; returns the reason if spans were dropped.
    private func deliver(_ batch: [FinishedSpan], to collector: Collector) async -> String? {
        let body = TraceRequest(resource: configuration.resource, scope: Self.scope, spans: batch).encoded()
        var attempt = 1
        while true {
            let timeout = deadline.map { min($0 - .now, configuration.exportTimeout) } ?? configuration.exportTimeout
            guard timeout > .zero else { return drop(batch.count, "shutdown", "the process ends") }
            switch await collector.export(body, timeout: timeout) {
            case .accepted(let rejected):
                exported.increment(by: max(0, batch.count - rejected))
                return rejected > 0 ? drop(rejected, "refused", "the collector refused some spans") : nil
            case .refused(let reason): return drop(batch.count, "refused", reason)
            case .unavailable(let reason, let asked):
                guard attempt < configuration.maxAttempts else { return drop(batch.count, "unreachable", reason) }
                await pause(asked.map { min($0, configuration.maxRetryWait) } ?? wait(before: attempt + 1))
                attempt += 1
            }
        }
    }

    private func drop(_ count: Int, _ kind: String, _ reason: String) -> String {
        Counter(label: "trace_spans_dropped_total", dimensions: [("reason", kind)]).increment(by: count)
        return reason
    }

    /// The wait before an attempt without a Retry-After; jittered, so that processes do not retry at the same time.
    private func wait(before attempt: Int) -> Duration {
        let grown = (2..<attempt).reduce(configuration.minRetryWait) { wait, _ in wait * 1.5 }
        return min(grown, configuration.maxRetryWait) * Double.random(in: 0.8...1.2)
    }

    /// Waits before another attempt; a shutdown cuts the wait short.
    private func pause(_ duration: Duration) async {
        if let deadline {
            try? await Task.sleep(until: min(.now + duration, deadline))
            return
        }
        let end = ContinuousClock.now + duration
        while queue.closedAt == nil, case let left = end - .now, left > .zero { await queue.wait(upTo: left) }
    }
}
