internal import TraceContext
internal import Tracing

/// A span that has ended, ready to be exported.
struct FinishedSpan: Sendable {
    /// Something that happened within it.
    struct Event: Sendable {
        let name: String
        let nanoseconds: UInt64
        let attributes: SpanAttributes
    }

    /// Another span that it has to do with.
    struct Link: Sendable {
        let target: TraceParent
        let attributes: SpanAttributes
    }

    let identity: TraceParent
    /// The span that it is a part of; nil for the first of a trace.
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
    /// What was over a limit and is left out, in number.
    var droppedEvents = 0
    var droppedLinks = 0
    var status: SpanStatus.Code?
}
