import Foundation
import TestSupport
import Testing
import Tracing

@testable import HeliographTracing

@Suite struct TraceRequestTests {
    private static let identity = TraceParent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
    private static let link = TraceParent("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")

    private func request(_ spans: [FinishedSpan]) -> TraceRequest {
        TraceRequest(
            resource: [("service.name", "identity-api"), ("service.instance.id", "a \"host\"\n")], scope: ("heliograph", "1"),
            spans: spans)
    }

    @Test func `the request equals the golden file`() throws {
        let identity = try #require(Self.identity)
        let link = try #require(Self.link)
        let full = FinishedSpan(
            identity: identity, parent: SpanID(1), name: "POST /v1/images/process", kind: .server, start: 1_763_769_600_000_000_001,
            end: UInt64.max,
            attributes: [
                "http.request.method": "POST", "http.response.status_code": 200, "ratio": 0.5, "nothing": .double(.nan), "retried": false,
                "names": .stringArray(["a", "ü\u{1}"]), "counts": .int64Array([1, -2]),
            ],
            events: [.init(name: "lease lost", nanoseconds: 7, attributes: ["attempt": 2])],
            links: [.init(target: link, attributes: ["kind": "batch"])], droppedEvents: 3, droppedLinks: 4, status: .error)
        let plain = FinishedSpan(identity: link, parent: nil, name: "send ekyc.requested", kind: .producer, start: 1, end: 2, status: .ok)
        let written = String(decoding: request([full, plain]).encoded(), as: UTF8.self)
        let golden = try String(contentsOfFile: try PackageRoot.file("Tests/Golden/otlp-traces.json"), encoding: .utf8)
        #expect(written + "\n" == golden)
    }

    @Test(arguments: [SpanKind.internal, .server, .client, .producer, .consumer])
    func `the request is JSON with ids in hexadecimal and times as strings, for any span`(kind: SpanKind) throws {
        let names = ["", "\"\\\u{0}\u{1f}\n", "é🙂", String(repeating: "ü", count: 2_000)]
        let spans = (0..<200).map { number in
            FinishedSpan(
                identity: TraceParent(traceID: .random(), spanID: .random(), isSampled: true),
                parent: number.isMultiple(of: 2) ? .random() : nil, name: names[number % names.count], kind: kind,
                start: .random(in: .min ... .max), end: .random(in: .min ... .max),
                attributes: SpanAttributes(Dictionary(uniqueKeysWithValues: (0..<number).map { ("key\($0)", .string(names[number % 4])) })))
        }
        let object = try JSONSerialization.jsonObject(with: Data(request(spans).encoded())) as? [String: [[String: Any]]]
        let scopes = try #require(object?["resourceSpans"]?.first?["scopeSpans"] as? [[String: Any]])
        let written = try #require(scopes.first?["spans"] as? [[String: Any]])
        #expect(written.count == spans.count)
        for (json, span) in zip(written, spans) {
            #expect((json["traceId"] as? String)?.wholeMatch(of: /[0-9a-f]{32}/) != nil)
            #expect((json["spanId"] as? String)?.wholeMatch(of: /[0-9a-f]{16}/) != nil)
            #expect((json["parentSpanId"] as? String)?.wholeMatch(of: /[0-9a-f]{16}/) != nil || span.parent == nil)
            #expect(json["startTimeUnixNano"] as? String == "\(span.start)" && json["endTimeUnixNano"] as? String == "\(span.end)")
            #expect((json["name"] as? String)?.utf8.count ?? 0 <= TraceRequest.maxTextByteCount)
            let kept = (json["attributes"] as? [Any])?.count ?? 0
            #expect(kept <= TraceRequest.maxAttributes)
            #expect(kept + (json["droppedAttributesCount"] as? Int ?? 0) == span.attributes.count)
        }
    }
}
