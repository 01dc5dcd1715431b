import FoundationEssentials
import Storage
import TraceContext
public import Tracing
public import WireFormat

/// The handling of a message, as a span below the one that caused the message.
///
/// The attributes are those of OpenTelemetry's conventions for messaging. Without a tracer there is no span, and what the message
/// says of its trace is handed on as it is.
struct HandlerSpan: Sendable {
    /// What the handler and what it calls know of their work.
    let context: InstrumentationContext
    /// What the events that the handler causes carry on.
    let traceparent: String?
    private let span: (any Span)?

    init(of event: Envelope<some Event>, _ entry: DeliveredEntry, in scope: ConsumerScope) {
        let context = event.work
        guard !(InstrumentationSystem.instrument is NoOpInstrument) else {
            (self.context, traceparent, span) = (context, event.traceparent, nil)
            return
        }
        let span = startSpan("process \(event.type)", context: context, ofKind: .consumer)
        if span.isRecording {
            span.updateAttributes { attributes in
                attributes.describe(event.id, in: scope.stream, "process")
                attributes["messaging.consumer.group.name"] = scope.group
                attributes["heliograph.delivery_count"] = entry.failures + entry.deliveryCount
            }
        }
        (self.context, self.span) = (span.context, span)
        traceparent = span.context.traceParent?.description ?? event.traceparent
    }

    /// Ends the span.
    func end(_ result: ProcessingResult) {
        guard let span else { return }
        switch result {
        case .handled: break
        case .duplicate: span.attributes["heliograph.duplicate"] = true
        // It is asked for by the handler, and no fault.
        case .failed(let error as HandlerDeferral): span.attributes["heliograph.postponed"] = "\(error.delay)"
        case .failed(let error): span.recordError(error)
        case .unreadable(let error): span.recordError(error)
        }
        span.end()
    }
}

extension Envelope {
    /// What is known of the work that the message asks for. A handler of single messages runs in it; one of batches uses it for what
    /// is about one of them, such as a log line.
    public var work: InstrumentationContext {
        .work(requestID: requestID, traceparent: traceparent, messageID: id.wireString)
    }
}

/// The publication of messages, each as a span beside those of its handlers: what is before it was spent in the outbox, and what
/// is between it and a handler in the stream.
struct PublishSpans: Sendable {
    private let start = DefaultTracerClock.now
    private let isOn = !(InstrumentationSystem.instrument is NoOpInstrument)

    /// Notes that a message was appended to its stream.
    func sent(_ message: OutboxMessage) {
        guard isOn, let parent = message.envelope.traceparent.flatMap(TraceParent.init), parent.isSampled else { return }
        var context = InstrumentationContext.topLevel
        context.traceParent = parent
        let span = startSpan("send \(message.envelope.type)", context: context, ofKind: .producer, at: start)
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
