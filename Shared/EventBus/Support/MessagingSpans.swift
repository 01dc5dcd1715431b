import FoundationEssentials
public import HeliographTracing
import Tracing
public import WireFormat

/// The handling of a message, as a span below the one that caused the message.
///
/// The attributes are those of OpenTelemetry's conventions for messaging. Without a tracer there is no span, and the trace
/// context of the message is passed on unchanged.
struct HandlerSpan: Sendable {
    /// The message that the handler and its callees work for.
    private let work: WorkContext
    /// The trace parent of the events that the handler causes.
    let traceparent: String?
    private let span: (any Span)?

    /// - Parameter type: The type of event that the handler takes. The message's own type is not checked yet, and must not become the
    ///   span's name.
    init(of message: EncodedEnvelope, _ type: EventType, _ entry: DeliveredEntry, in scope: ConsumerScope) {
        work = WorkContext(requestID: message.requestID, messageID: message.id, traceparent: message.traceparent)
        guard scope.isTraced else {
            (traceparent, span) = (message.traceparent, nil)
            return
        }
        let parent = message.traceparent.flatMap(TraceParent.init)
        let span = startSpan("process \(type)", context: .below(parent), ofKind: .consumer)
        if span.isRecording {
            span.updateAttributes { attributes in
                attributes.describe(message.id, in: scope.stream, "process")
                attributes["messaging.consumer.group.name"] = scope.group
                attributes["heliograph.delivery_count"] = entry.failures + entry.deliveryCount
            }
        }
        self.span = span
        traceparent = span.context.traceParent?.description ?? message.traceparent
    }

    /// Runs `body` in the span, if there is one, and for the message.
    func withContext(_ body: () async -> ProcessingResult) async -> ProcessingResult {
        // Each closure around the handler is a function with memory of its own.
        guard let span else { return await WorkContext.$current.withValue(work, operation: body) }
        return await WorkContext.$current.withValue(work) {
            await InstrumentationContext.withValue(span.context, operation: body)
        }
    }

    /// Ends the span.
    func end(_ result: ProcessingResult) {
        guard let span else { return }
        switch result {
        case .handled: break
        case .duplicate: span.attributes["heliograph.duplicate"] = true
        // The handler asked for it; it is not an error.
        case .failed(let error as HandlerDeferral): span.attributes["heliograph.postponed"] = "\(error.delay)"
        case .failed(let error): span.recordError(error)
        case .unreadable(let error): span.recordError(error)
        }
        span.end()
    }
}

extension Envelope {
    /// The context of work on the message. A handler of single messages runs in it; a handler of batches uses it for work on one of them,
    /// such as a log line. A log line gets the trace of the task's current span, if there is one.
    public var work: WorkContext { WorkContext(requestID: requestID, messageID: id, traceparent: traceparent) }
}

/// Spans for the publication of messages, beside those of their handlers. The time before such a span was spent in the outbox, the
/// time between it and a handler's span in the stream.
struct PublishSpans: Sendable {
    private let start = DefaultTracerClock.now
    private let isOn = !(InstrumentationSystem.instrument is NoOpInstrument)

    /// Records that a message was appended to its stream.
    func sent(_ message: OutboxMessage) {
        guard isOn, let parent = message.envelope.traceparent.flatMap(TraceParent.init), parent.isSampled else { return }
        let span = startSpan("send \(message.envelope.type)", context: .below(parent), ofKind: .producer, at: start)
        span.updateAttributes { $0.describe(message.envelope.id, in: message.stream, "send") }
        span.end()
    }
}

extension SpanAttributes {
    fileprivate mutating func describe(_ messageID: UUID, in stream: String, _ operation: String) {
        self["messaging.system"] = "redis"
        self["messaging.destination.name"] = stream
        self["messaging.operation.type"] = operation
        self["messaging.message.id"] = messageID.wireString
    }
}
