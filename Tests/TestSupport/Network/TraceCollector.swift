import Foundation
import Synchronization

/// A collector of traces by OTLP over HTTP with JSON, which keeps the spans that it receives.
public final class TraceCollector: Sendable {
    /// A received span, as far as tests check it.
    public struct Span: Sendable {
        /// The resource's `service.name`; empty without one.
        public let service: String
        /// The id of the trace, 32 hexadecimal digits.
        public let traceID: String
        /// The id of the span, 16 hexadecimal digits.
        public let id: String
        /// The id of the span around it, which may be another service's; nil for the first one of a trace.
        public let parentID: String?
        /// The name of the operation.
        public let name: String
        /// The number of its kind: 1 internal, 2 server, 3 client, 4 producer, 5 consumer.
        public let kind: Int
        /// Nanoseconds since 1970.
        public let start: UInt64
        /// Nanoseconds since 1970.
        public let end: UInt64
        /// The attributes that are texts or integers.
        public let attributes: [String: String]
        /// Whether the status code is 2, which is OTLP's for an error.
        public let isError: Bool
    }

    private struct State {
        var answers: [String]
        var requests: [String] = []
        var spans: [Span] = []
    }

    /// The answer of a collector that accepted all spans.
    public static let taken = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"

    private let server: ScriptedServer
    private let state: Recorder

    private final class Recorder: Sendable {
        let value: Mutex<State>
        init(_ answers: [String]) { value = Mutex(State(answers: answers)) }
    }

    /// Starts a collector.
    ///
    /// - Parameter answers: The answers to the first exports, each a whole HTTP response; the spans of an export are kept only if
    ///   its answer is a 200. All further exports are accepted.
    public init(answers: [String] = []) async throws {
        let state = Recorder(answers)
        self.state = state
        server = try await ScriptedServer { connection in
            while true {
                let request = try await connection.readRequest()
                let answer = state.value.withLock { state in
                    state.requests.append(request)
                    let answer = state.answers.isEmpty ? Self.taken : state.answers.removeFirst()
                    if answer.hasPrefix("HTTP/1.1 200") { state.spans += Self.spans(in: request) }
                    return answer
                }
                try await connection.write(answer)
            }
        }
    }

    /// Its URL, for `OTEL_EXPORTER_OTLP_ENDPOINT`.
    public var url: String { "http://127.0.0.1:\(server.port)" }
    /// All received exports with their heads, including those that were not accepted.
    public var requests: [String] { state.value.withLock { $0.requests } }
    /// The accepted spans, in the order of their arrival.
    public var spans: [Span] { state.value.withLock { $0.spans } }

    private static func spans(in request: String) -> [Span] {
        guard let end = request.range(of: "\r\n\r\n") else { return [] }
        return JSONAnswer.parse(Array(request[end.upperBound...].utf8))["resourceSpans"].elements.flatMap { resource in
            let service = attributes(resource["resource"])["service.name"] ?? ""
            return resource["scopeSpans"].elements.flatMap { $0["spans"].elements.map { span($0, of: service) } }
        }
    }

    private static func span(_ json: JSONAnswer, of service: String) -> Span {
        Span(
            service: service, traceID: json["traceId"].text ?? "", id: json["spanId"].text ?? "", parentID: json["parentSpanId"].text,
            name: json["name"].text ?? "", kind: json["kind"].number.map(Int.init) ?? 0,
            start: json["startTimeUnixNano"].text.flatMap { UInt64($0) } ?? 0,
            end: json["endTimeUnixNano"].text.flatMap { UInt64($0) } ?? 0, attributes: attributes(json),
            isError: json["status"]["code"].number == 2)
    }

    private static func attributes(_ json: JSONAnswer) -> [String: String] {
        let pairs = json["attributes"].elements.compactMap { attribute in
            attribute["key"].text.map { ($0, attribute["value"]["stringValue"].text ?? attribute["value"]["intValue"].text ?? "") }
        }
        return Dictionary(pairs) { $1 }
    }
}
