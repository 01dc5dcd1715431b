internal import Synchronization
internal import TraceContext
public import Tracing

/// A span that is exported when it ends, if its trace is sampled; else it carries the trace on and costs next to nothing.
///
/// Of errors and states only the kind is kept: what a message says is nobody's outside this system.
public final class OTLPSpan: Span {
    /// The most events of a span; more are counted.
    static let eventsMax = 16
    /// The most links of a span; more are counted.
    static let linksMax = 32

    private struct State {
        var name: String
        var attributes: SpanAttributes = [:]
        var events: [FinishedSpan.Event] = []
        var links: [FinishedSpan.Link] = []
        var droppedEvents = 0
        var droppedLinks = 0
        var status: SpanStatus.Code?
        var isOver = false
    }

    /// What the span hands on to those within it.
    public let context: InstrumentationContext
    /// Whether it will be exported.
    public var isRecording: Bool { queue != nil }
    private let identity: TraceParent
    private let parent: SpanID?
    private let kind: SpanKind
    private let start: UInt64
    /// Where it goes when it ends; nil when it is not sampled.
    private let queue: SpanQueue?
    private let state: Mutex<State>

    init(
        _ name: String, context: InstrumentationContext, identity: TraceParent, parent: SpanID?, kind: SpanKind, start: UInt64,
        queue: SpanQueue?
    ) {
        self.context = context
        self.identity = identity
        self.parent = parent
        self.kind = kind
        self.start = start
        self.queue = queue
        state = Mutex(State(name: name))
    }

    /// What the work is called; few different names, never an id.
    public var operationName: String {
        get { state.withLock { $0.name } }
        set { state.withLock { $0.name = newValue } }
    }

    /// What is known of the work; never a secret, nor anything of a person.
    public var attributes: SpanAttributes {
        get { state.withLock { $0.attributes } }
        set { if isRecording { state.withLock { $0.attributes = newValue } } }
    }

    /// Says how the work went; a message is left out.
    public func setStatus(_ status: SpanStatus) {
        state.withLock { $0.status = status.code }
    }

    /// Notes something that happened.
    public func addEvent(_ event: SpanEvent) {
        guard isRecording else { return }
        state.withLock { state in
            guard state.events.count < Self.eventsMax else { return state.droppedEvents += 1 }
            state.events.append(
                FinishedSpan.Event(name: event.name, nanoseconds: event.nanosecondsSinceEpoch, attributes: event.attributes))
        }
    }

    /// Notes that the work failed, and the type of the error.
    public func recordError<Instant: TracerInstant>(
        _ error: any Error, attributes: SpanAttributes, at instant: @autoclosure () -> Instant
    ) {
        guard isRecording else { return }
        state.withLock { state in
            state.attributes.merge(attributes)
            state.attributes["error.type"] = "\(type(of: error))"
            state.status = .error
        }
    }

    /// Notes another span that this one has to do with; one that is not known here is left out.
    public func addLink(_ link: SpanLink) {
        guard isRecording, let target = link.context.traceParent else { return }
        state.withLock { state in
            guard state.links.count < Self.linksMax else { return state.droppedLinks += 1 }
            state.links.append(FinishedSpan.Link(target: target, attributes: link.attributes))
        }
    }

    /// Ends the span, the first time it is called.
    public func end<Instant: TracerInstant>(at instant: @autoclosure () -> Instant) {
        guard let queue else { return }
        let end = instant().nanosecondsSinceEpoch
        let span = state.withLock { state -> FinishedSpan? in
            guard !state.isOver else { return nil }
            state.isOver = true
            return FinishedSpan(
                identity: identity, parent: parent, name: state.name, kind: kind, start: start, end: max(start, end),
                attributes: state.attributes, events: state.events, links: state.links, droppedEvents: state.droppedEvents,
                droppedLinks: state.droppedLinks, status: state.status)
        }
        if let span { queue.add(span) }
    }
}
