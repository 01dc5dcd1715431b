internal import Tracing

/// The body of an export: spans and their resource, as JSON.
///
/// Sources: https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding (ids in hexadecimal, kinds as numbers, integers of 64
/// bits as strings) and opentelemetry/proto/trace/v1/trace.proto.
struct TraceRequest {
    /// The maximum number of attributes of a span; further ones are counted.
    static let maxAttributes = 32
    /// The maximum number of bytes of a text; the rest is cut off.
    static let maxTextByteCount = 1024

    let resource: [(name: String, value: String)]
    /// The instrumentation scope.
    let scope: (name: String, version: String)
    let spans: [FinishedSpan]

    func encoded() -> [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.key("resourceSpans")
            writer.array(CollectionOfOne(())) { writer, _ in
                writer.object { writer in
                    writer.key("resource")
                    writer.object { writer in
                        writer.key("attributes")
                        writer.array(resource) { Self.write($1.name, .string($1.value), to: &$0) }
                    }
                    writer.key("scopeSpans")
                    writer.array(CollectionOfOne(())) { writer, _ in writeScope(to: &writer) }
                }
            }
        }
        return writer.bytes
    }

    private func writeScope(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.key("scope")
            writer.object { writer in
                writer.key("name")
                writer.string(scope.name)
                writer.key("version")
                writer.string(scope.version)
            }
            writer.key("spans")
            writer.array(spans) { Self.write($1, to: &$0) }
        }
    }

    private static func write(_ span: FinishedSpan, to writer: inout JSONWriter) {
        writer.object { writer in
            writer.key("traceId")
            writer.string(span.identity.traceID.description)
            writer.key("spanId")
            writer.string(span.identity.spanID.description)
            if let parent = span.parent {
                writer.key("parentSpanId")
                writer.string(parent.description)
            }
            writer.key("flags")
            writer.number(span.identity.isSampled ? 1 : 0)
            writer.key("name")
            writer.string(span.name, maxByteCount: maxTextByteCount)
            writer.key("kind")
            writer.number(number(of: span.kind))
            writer.key("startTimeUnixNano")
            writer.wideNumber(span.start)
            writer.key("endTimeUnixNano")
            writer.wideNumber(span.end)
            write(span.attributes, dropped: "droppedAttributesCount", to: &writer)
            if !span.events.isEmpty { write(span.events, dropped: span.droppedEvents, to: &writer) }
            if !span.links.isEmpty { write(span.links, dropped: span.droppedLinks, to: &writer) }
            if let status = span.status {
                writer.key("status")
                writer.object { writer in
                    writer.key("code")
                    writer.number(status == .ok ? 1 : 2)
                }
            }
        }
    }

    private static func write(_ events: [FinishedSpan.Event], dropped: Int, to writer: inout JSONWriter) {
        writer.key("events")
        writer.array(events) { writer, event in
            writer.object { writer in
                writer.key("timeUnixNano")
                writer.wideNumber(event.nanoseconds)
                writer.key("name")
                writer.string(event.name, maxByteCount: maxTextByteCount)
                write(event.attributes, dropped: "droppedAttributesCount", to: &writer)
            }
        }
        if dropped > 0 {
            writer.key("droppedEventsCount")
            writer.number(dropped)
        }
    }

    private static func write(_ links: [FinishedSpan.Link], dropped: Int, to writer: inout JSONWriter) {
        writer.key("links")
        writer.array(links) { writer, link in
            writer.object { writer in
                writer.key("traceId")
                writer.string(link.target.traceID.description)
                writer.key("spanId")
                writer.string(link.target.spanID.description)
                write(link.attributes, dropped: "droppedAttributesCount", to: &writer)
            }
        }
        if dropped > 0 {
            writer.key("droppedLinksCount")
            writer.number(dropped)
        }
    }

    private static func write(_ attributes: SpanAttributes, dropped: StaticString, to writer: inout JSONWriter) {
        guard !attributes.isEmpty else { return }
        var sorted: [(name: String, value: SpanAttribute)] = []
        attributes.forEach { sorted.append(($0, $1)) }
        sorted.sort { $0.name < $1.name }
        writer.key("attributes")
        writer.array(sorted.prefix(maxAttributes)) { write($1.name, $1.value, to: &$0) }
        if sorted.count > maxAttributes {
            writer.key(dropped)
            writer.number(sorted.count - maxAttributes)
        }
    }

    private static func write(_ name: String, _ value: SpanAttribute, to writer: inout JSONWriter) {
        writer.object { writer in
            writer.key("key")
            writer.string(name)
            writer.key("value")
            write(value, to: &writer)
        }
    }

    private static func write(_ value: SpanAttribute, to writer: inout JSONWriter) {
        switch value {
        case .int32(let value): write("intValue", to: &writer) { $0.wideNumber(value) }
        case .int64(let value): write("intValue", to: &writer) { $0.wideNumber(value) }
        case .double(let value): write("doubleValue", to: &writer) { $0.double(value) }
        case .bool(let value): write("boolValue", to: &writer) { $0.bool(value) }
        case .string(let value): writeText(value, to: &writer)
        case .stringConvertible(let value): writeText("\(value)", to: &writer)
        case .int32Array(let values): writeArray(values.map { .int32($0) }, to: &writer)
        case .int64Array(let values): writeArray(values.map { .int64($0) }, to: &writer)
        case .doubleArray(let values): writeArray(values.map { .double($0) }, to: &writer)
        case .boolArray(let values): writeArray(values.map { .bool($0) }, to: &writer)
        case .stringArray(let values): writeArray(values.map { .string($0) }, to: &writer)
        case .stringConvertibleArray(let values): writeArray(values.map { .string("\($0)") }, to: &writer)
        default: writeText("", to: &writer)
        }
    }

    private static func writeText(_ text: String, to writer: inout JSONWriter) {
        write("stringValue", to: &writer) { $0.string(text, maxByteCount: maxTextByteCount) }
    }

    private static func writeArray(_ values: [SpanAttribute], to writer: inout JSONWriter) {
        write("arrayValue", to: &writer) { writer in
            writer.object { writer in
                writer.key("values")
                writer.array(values) { write($1, to: &$0) }
            }
        }
    }

    private static func write(_ kind: StaticString, to writer: inout JSONWriter, _ value: (inout JSONWriter) -> Void) {
        writer.object { writer in
            writer.key(kind)
            value(&writer)
        }
    }

    private static func number(of kind: SpanKind) -> Int {
        switch kind {
        case .internal: 1
        case .server: 2
        case .client: 3
        case .producer: 4
        case .consumer: 5
        }
    }
}
