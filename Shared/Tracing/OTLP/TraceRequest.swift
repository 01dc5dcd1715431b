internal import JSON
internal import Tracing

/// The body of an export: spans and their resource, as JSON.
///
/// It is written directly, because the dictionaries of an encoder are too slow for thousands of spans per second.
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
        JSONWriter.bytes { writer in
            writer.object { writer in
                writer.array("resourceSpans") { writer in
                    writer.object { writer in
                        writer.object("resource") { writer in
                            writer.array("attributes") { writer in
                                for attribute in resource { Self.write(attribute.name, .string(attribute.value), to: &writer) }
                            }
                        }
                        writer.array("scopeSpans") { writeScope(to: &$0) }
                    }
                }
            }
        }
    }

    private func writeScope(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.object("scope") { writer in
                writer.member("name", scope.name)
                writer.member("version", scope.version)
            }
            writer.array("spans") { writer in
                for span in spans { Self.write(span, to: &writer) }
            }
        }
    }

    private static func write(_ span: FinishedSpan, to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("traceId", span.identity.traceID.description)
            writer.member("spanId", span.identity.spanID.description)
            writer.member("parentSpanId", span.parent?.description)
            writer.member("flags", span.identity.isSampled ? 1 : 0)
            writer.member("name", cut(span.name))
            writer.member("kind", number(of: span.kind))
            writer.member("startTimeUnixNano", String(span.start))
            writer.member("endTimeUnixNano", String(span.end))
            write(span.attributes, to: &writer)
            if !span.events.isEmpty { write(span.events, dropped: span.droppedEvents, to: &writer) }
            if !span.links.isEmpty { write(span.links, dropped: span.droppedLinks, to: &writer) }
            if let status = span.status { writer.object("status") { $0.member("code", status == .ok ? 1 : 2) } }
        }
    }

    private static func write(_ events: [FinishedSpan.Event], dropped: Int, to writer: inout JSONWriter) {
        writer.array("events") { writer in
            for event in events {
                writer.object { writer in
                    writer.member("timeUnixNano", String(event.nanoseconds))
                    writer.member("name", cut(event.name))
                    write(event.attributes, to: &writer)
                }
            }
        }
        if dropped > 0 { writer.member("droppedEventsCount", dropped) }
    }

    private static func write(_ links: [FinishedSpan.Link], dropped: Int, to writer: inout JSONWriter) {
        writer.array("links") { writer in
            for link in links {
                writer.object { writer in
                    writer.member("traceId", link.target.traceID.description)
                    writer.member("spanId", link.target.spanID.description)
                    write(link.attributes, to: &writer)
                }
            }
        }
        if dropped > 0 { writer.member("droppedLinksCount", dropped) }
    }

    private static func write(_ attributes: SpanAttributes, to writer: inout JSONWriter) {
        guard !attributes.isEmpty else { return }
        var sorted: [(name: String, value: SpanAttribute)] = []
        attributes.forEach { sorted.append(($0, $1)) }
        sorted.sort { $0.name < $1.name }
        writer.array("attributes") { writer in
            for attribute in sorted.prefix(maxAttributes) { write(attribute.name, attribute.value, to: &writer) }
        }
        if sorted.count > maxAttributes { writer.member("droppedAttributesCount", sorted.count - maxAttributes) }
    }

    private static func write(_ name: String, _ value: SpanAttribute, to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("key", name)
            writer.object("value") { write(value, to: &$0) }
        }
    }

    /// Writes the only member of an `AnyValue`. The mapping of protocol buffers to JSON writes an integer of 64 bits as a string.
    private static func write(_ value: SpanAttribute, to writer: inout JSONWriter) {
        switch value {
        case .int32(let value): writer.member("intValue", String(value))
        case .int64(let value): writer.member("intValue", String(value))
        case .double(let value) where value.isFinite:
            writer.name("doubleValue")
            writer.double(value)
        case .double(let value): writer.member("doubleValue", value.isNaN ? "NaN" : value < 0 ? "-Infinity" : "Infinity")
        case .bool(let value):
            writer.name("boolValue")
            writer.bool(value)
        case .string(let value): writer.member("stringValue", cut(value))
        case .stringConvertible(let value): writer.member("stringValue", cut("\(value)"))
        case .int32Array(let values): writeArray(values.map { .int32($0) }, to: &writer)
        case .int64Array(let values): writeArray(values.map { .int64($0) }, to: &writer)
        case .doubleArray(let values): writeArray(values.map { .double($0) }, to: &writer)
        case .boolArray(let values): writeArray(values.map { .bool($0) }, to: &writer)
        case .stringArray(let values): writeArray(values.map { .string($0) }, to: &writer)
        case .stringConvertibleArray(let values): writeArray(values.map { .string("\($0)") }, to: &writer)
        default: writer.member("stringValue", "")
        }
    }

    private static func writeArray(_ values: [SpanAttribute], to writer: inout JSONWriter) {
        writer.object("arrayValue") { writer in
            writer.array("values") { writer in
                for value in values { writer.object { write(value, to: &$0) } }
            }
        }
    }

    /// Cuts a text to at most ``maxTextByteCount`` bytes, between two characters of Unicode.
    private static func cut(_ text: String) -> String {
        let bytes = text.utf8
        guard bytes.count > maxTextByteCount else { return text }
        // An index within a scalar is rounded down to its start.
        return String(text.unicodeScalars[..<bytes.index(bytes.startIndex, offsetBy: maxTextByteCount)])
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
