import HeliographTracing
import Logging
import ServiceLifecycle
import TestSupport
import Testing
import Tracing

@Suite struct OTLPExporterTests {
    private func answer(_ status: String, _ headers: String = "", body: String = "") -> String {
        "HTTP/1.1 \(status)\r\n\(headers)Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    private func configuration(_ collector: TraceCollector, maxBatchSize: Int = 2) -> OTLPConfiguration {
        var configuration = OTLPConfiguration(endpoint: collector.url + "/v1/traces", resource: [("service.name", "tests")])
        configuration.maxBatchSize = maxBatchSize
        configuration.minRetryWait = .milliseconds(10)
        (configuration.exportTimeout, configuration.flushTimeout) = (.seconds(60), .seconds(60))
        return configuration
    }

    /// Runs an exporter until `body` has returned, then shuts it down in order.
    private func withExporter(
        _ configuration: OTLPConfiguration, _ body: (OTLPTracer) async throws -> Void
    ) async throws {
        let exporter = OTLPExporter(configuration: configuration, logger: Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() })
        let group = ServiceGroup(configuration: .init(services: [.init(service: exporter)], logger: Logger(label: "tests")))
        async let running: Void = group.run()
        try await body(exporter.tracer)
        await group.triggerGracefulShutdown()
        try await running
    }

    @Test func `a full batch is sent at once, as the standard requires`() async throws {
        let collector = try await TraceCollector()
        var configuration = configuration(collector)
        configuration.headers = [("Authorization", "Bearer secret")]
        configuration.interval = .seconds(60)
        try await withExporter(configuration) { tracer in
            for _ in 0..<2 { tracer.startSpan("work", ofKind: .consumer).end() }
            try await eventually("both spans are there") { collector.spans.count == 2 }
        }
        let request = try #require(collector.requests.first)
        #expect(request.hasPrefix("POST /v1/traces HTTP/1.1\r\n"))
        #expect(request.contains("Content-Type: application/json\r\n"))
        #expect(request.contains("Authorization: Bearer secret\r\n"))
        #expect(collector.spans.allSatisfy { $0.service == "tests" && $0.name == "work" && $0.kind == 5 && $0.start <= $0.end })
    }

    @Test func `waiting spans are sent after the interval`() async throws {
        let collector = try await TraceCollector()
        var configuration = configuration(collector, maxBatchSize: 512)
        configuration.interval = .milliseconds(20)
        try await withExporter(configuration) { tracer in
            tracer.startSpan("work").end()
            try await eventually("the span is there") { collector.spans.count == 1 }
        }
    }

    @Test func `waiting spans are sent before the process ends`() async throws {
        let collector = try await TraceCollector()
        try await withExporter(configuration(collector)) { tracer in
            for _ in 0..<5 { tracer.startSpan("work").end() }
        }
        #expect(collector.spans.count == 5)
    }

    @Test(arguments: ["429 Too Many Requests", "502 Bad Gateway", "503 Service Unavailable", "504 Gateway Timeout"])
    func `an export with a retryable status is sent again`(status: String) async throws {
        let collector = try await TraceCollector(answers: [answer(status), answer(status, "Retry-After: 0\r\n")])
        try await withExporter(configuration(collector)) { tracer in
            for _ in 0..<2 { tracer.startSpan("work").end() }
            try await eventually("both spans are there") { collector.spans.count == 2 }
        }
        #expect(collector.requests.count == 3)
    }

    @Test func `a refused export is dropped`() async throws {
        let collector = try await TraceCollector(answers: [answer("400 Bad Request")])
        try await withExporter(configuration(collector)) { tracer in
            for _ in 0..<2 { tracer.startSpan("refused").end() }
            try await eventually("it was sent") { !collector.requests.isEmpty }
            for _ in 0..<2 { tracer.startSpan("taken").end() }
            try await eventually("the next ones are there") { collector.spans.map(\.name) == ["taken", "taken"] }
        }
        #expect(collector.requests.count == 2)
    }

    @Test func `a partly accepted export is not sent again`() async throws {
        let body = #"{"partialSuccess":{"rejectedSpans":"1","errorMessage":"too old"}}"#
        let collector = try await TraceCollector(answers: [answer("200 OK", body: body)])
        try await withExporter(configuration(collector)) { tracer in
            for _ in 0..<2 { tracer.startSpan("work").end() }
            try await eventually("it was sent") { !collector.requests.isEmpty }
        }
        #expect(collector.requests.count == 1)
    }

    @Test func `an unreachable collector does not delay the end of the process`() async throws {
        var configuration = OTLPConfiguration(endpoint: "http://127.0.0.1:\(try FreePort.find())/v1/traces", resource: [])
        configuration.minRetryWait = .seconds(600)
        configuration.flushTimeout = .milliseconds(200)
        let start = ContinuousClock.now
        try await withExporter(configuration) { tracer in
            for _ in 0..<512 { tracer.startSpan("work").end() }
        }
        #expect(ContinuousClock.now - start < .seconds(60))
    }
}
