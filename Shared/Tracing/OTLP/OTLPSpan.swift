internal import Synchronization
public import Tracing

/// A span that is exported when it ends if its trace is sampled; otherwise it only propagates the trace, at little cost.
///
/// Of errors and statuses only the kind is kept, because messages must not leave this system.
public final class OTLPSpan: Span {
    /// The maximum number of events of a span; further ones are counted.
    static let maxEvents = 16
    /// The maximum number of links of a span; further ones are counted.
    static let maxLinks = 32

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

    /// The context for child spans.
    public let context: InstrumentationContext
    /// Whether the span will be exported.
    public var isRecording: Bool { queue != nil }
    private let identity: TraceParent
    private let parent: SpanID?
    private let kind: SpanKind
    private let start: UInt64
    /// The queue for the finished span; nil when it is not sampled.
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

    /// The name of the operation; of low cardinality, never with an id.
    public var operationName: String {
        get { state.withLock { $0.name } }
        set { state.withLock { $0.name = newValue } }
    }

    /// The attributes of the operation; never secrets or personal data.
    public var attributes: SpanAttributes {
        get { state.withLock { $0.attributes } }
        set { if isRecording { state.withLock { $0.attributes = newValue } } }
    }

    /// Sets the status of the operation; its message is left out.
    public func setStatus(_ status: SpanStatus) {
        state.withLock { $0.status = status.code }
    }

    /// Adds an event.
    public func addEvent(_ event: SpanEvent) {
        guard isRecording else { return }
        state.withLock { state in
            guard state.events.count < Self.maxEvents else { return state.droppedEvents += 1 }
            state.events.append(
                FinishedSpan.Event(name: event.name, nanoseconds: event.nanosecondsSinceEpoch, attributes: event.attributes))
        }
    }

    /// Marks the operation as failed, with the type of the error.
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

    /// Adds a link to a related span; a context without a trace parent is ignored.
    public func addLink(_ link: SpanLink) {
        guard isRecording, let target = link.context.traceParent else { return }
        state.withLock { state in
            guard state.links.count < Self.maxLinks else { return state.droppedLinks += 1 }
            state.links.append(FinishedSpan.Link(target: target, attributes: link.attributes))
        }
    }

    /// Ends the span; further calls do nothing.
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
