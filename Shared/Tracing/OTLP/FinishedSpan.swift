internal import Tracing

/// A span that has ended, ready to be exported.
struct FinishedSpan: Sendable {
    /// An event within the span.
    struct Event: Sendable {
        let name: String
        let nanoseconds: UInt64
        let attributes: SpanAttributes
    }

    /// A link to a related span.
    struct Link: Sendable {
        let target: TraceParent
        let attributes: SpanAttributes
    }

    let identity: TraceParent
    /// The parent span; nil for the first of a trace.
    let parent: SpanID?
    let name: String
    let kind: SpanKind
    /// Nanoseconds since 1970.
    let start: UInt64
    /// Nanoseconds since 1970.
    let end: UInt64
    var attributes: SpanAttributes = [:]
    var events: [Event] = []
    var links: [Link] = []
    /// Events left out because of the limit.
    var droppedEvents = 0
    /// Links left out because of the limit.
    var droppedLinks = 0
    var status: SpanStatus.Code?
}
