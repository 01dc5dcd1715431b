import FoundationEssentials
import HeliographTracing
import Instrumentation
import Logging
import Testing

@Suite struct TraceParentTests {
    private static let good = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

    @Test func `a trace parent survives a round trip`() throws {
        let parent = try #require(TraceParent(Self.good))
        #expect(parent.traceID.description == "4bf92f3577b34da6a3ce929d0e0e4736")
        #expect(parent.spanID.description == "00f067aa0ba902b7")
        #expect(parent.isSampled)
        #expect(parent.description == Self.good)
    }

    @Test func `the flags hold whether the span is recorded`() {
        #expect(TraceParent(String(Self.good.dropLast()) + "0")?.isSampled == false)
        #expect(TraceParent(String(Self.good.dropLast(2)) + "03")?.isSampled == true)
    }

    @Test func `of a later version the known fields are read`() {
        let later = "01" + Self.good.dropFirst(2)
        #expect(TraceParent(later)?.description == Self.good)
        #expect(TraceParent(later + "-more")?.description == Self.good)
    }

    @Test(arguments: [
        "", "00", good + "-more", "01" + good.dropFirst(2) + "more", "ff" + good.dropFirst(2), good.uppercased(),
        "00-00000000000000000000000000000000-00f067aa0ba902b7-01", "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
        "00-4bf92f3577b34da6a3ce929d0e0e473g-00f067aa0ba902b7-01", "00_4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-é",
    ])
    func `an invalid trace parent is refused`(text: String) {
        #expect(TraceParent(text) == nil)
    }

    @Test func `any ids survive a round trip`() {
        for _ in 0..<1_000 {
            let parent = TraceParent(traceID: .random(), spanID: .random(), isSampled: .random())
            #expect(parent.description.utf8.count == 55)
            #expect(TraceParent(parent.description) == parent)
        }
    }

    @Test func `log lines of the work have the trace, the request and the message`() {
        let messageID = UUID(uuidString: "0193F5C0-0000-7000-8000-00000000000A")
        let work = WorkContext(requestID: "r-1", messageID: messageID, traceparent: Self.good)
        let metadata = WorkContext.$current.withValue(work) { Logger.MetadataProvider.work.get() }
        #expect(
            metadata == [
                "trace_id": "4bf92f3577b34da6a3ce929d0e0e4736", "request_id": "r-1", "message_id": "0193f5c0-0000-7000-8000-00000000000a",
            ])
        #expect(Logger.MetadataProvider.work.get().isEmpty)
    }

    @Test func `a log line has the trace of the span, if there is one, and not that which came with the work`() throws {
        let span = try #require(TraceParent("00-" + String(repeating: "a", count: 32) + "-00f067aa0ba902b7-01"))
        let work = WorkContext(requestID: nil, traceparent: Self.good)
        let metadata = WorkContext.$current.withValue(work) {
            InstrumentationContext.withValue(.below(span)) { Logger.MetadataProvider.work.get() }
        }
        #expect(metadata == ["trace_id": "\(span.traceID)"])
    }
}
