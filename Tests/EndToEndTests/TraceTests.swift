import Foundation
import HTTPClient
import TestSupport
import Testing

/// Tests traces through the five real executables to a collector.
@Suite struct TraceTests {
    /// The span of the phone, which is the parent of its request.
    private static let phoneSpan = "00f067aa0ba902b7"

    @Test func `a sign-in is one trace from the request to the outcome of its push`() async throws {
        let stack = try await Stack.shared()
        let collector = try #require(stack.traces)
        let phone = try await Phone.make(stack)
        let trace = UUID().uuidString.lowercased().filter { $0 != "-" }
        let email = "traced-\(UUID().uuidString)@example.org"
        let answer = try await phone.signIn(
            email: email, faces: Photos.sameFace, traceparent: "00-\(trace)-\(Self.phoneSpan)-01")
        #expect(answer.status == 200)
        _ = try await phone.pushes()

        func spans() -> [TraceCollector.Span] { collector.spans.filter { $0.traceID == trace } }
        let last = try await eventually("the last span is exported: \(spans().map(\.name))") {
            spans().first { $0.name == "process notification.settled" }
        }
        var chain = [last]
        while let parent = chain[0].parentID, parent != Self.phoneSpan {
            // The spans of other services may be exported later.
            let above = try await eventually("the span above \(chain[0].name) is exported") { spans().first { $0.id == parent } }
            chain.insert(above, at: 0)
        }
        #expect(
            chain.map { "\($0.service) \($0.kind) \($0.name)" } == [
                "identity-api 2 POST /api/v1/ekyc/login", "face-matching-worker 5 process ekyc.requested",
                "token-registry 5 process notification.requested", "notifier 5 process notification.addressed",
                "notifier 3 send pushes", "token-registry 5 process notification.settled",
            ])
        #expect(chain[0].attributes["http.response.status_code"] == "200")
        #expect(chain[4].attributes["heliograph.pushes.accepted"] == "1")
        let worker = chain[1].id
        try await eventually("the stages of the match are below its handling") {
            let stages = spans().filter { $0.service == "face-matching-worker" }
            guard let match = stages.first(where: { $0.name == "match face" && $0.parentID == worker }) else { return false }
            // An export that is not answered in time is repeated, hence the set of ids.
            return Set(stages.filter { $0.name == "analyse photo" && $0.parentID == match.id }.map(\.id)).count == 3
        }
        try await eventually("each message was sent by some outbox") {
            Set(spans().filter { $0.kind == 4 }.map(\.name)).isSuperset(of: [
                "send ekyc.requested", "send notification.requested", "send notification.addressed", "send notification.settled",
            ])
        }
        #expect(spans().allSatisfy { !$0.isError && $0.start <= $0.end })
        for secret in [email, phone.token, answer.sessionToken ?? "no token"] {
            #expect(!collector.requests.contains { $0.contains(secret) })
        }
    }

    @Test func `a repeated push is in the trace of its request`() async throws {
        let stack = try await Stack.shared()
        let collector = try #require(stack.traces)
        let phone = try await Phone.make(stack)
        var fault = HTTPClientRequest(method: "POST", url: stack.fcmURL + "/control/faults")
        fault.body = Array(#"{"code":"UNAVAILABLE","retry_after":"1","token":"\#(phone.token)"}"#.utf8)
        #expect(try await stack.http.execute(fault).status == 201)
        let trace = UUID().uuidString.lowercased().filter { $0 != "-" }
        _ = try await phone.signIn(
            email: "again-\(UUID().uuidString)@example.org", faces: Photos.otherFace, traceparent: "00-\(trace)-\(Self.phoneSpan)-01")
        func sending(_ outcome: String) -> TraceCollector.Span? {
            collector.spans.first { $0.traceID == trace && $0.attributes["heliograph.pushes.\(outcome)"] == "1" }
        }
        let first = try await eventually("the first try is exported") { sending("postponed") }
        let second = try await eventually("the second try is exported") { sending("accepted") }
        #expect(first.name == "send pushes" && second.name == "send pushes" && first.end <= second.start)
        let asked = try await eventually("the request's span is exported") {
            collector.spans.first { $0.traceID == trace && $0.name == "process notification.requested" }
        }
        #expect(second.parentID == asked.id)
    }

    @Test func `log lines of a request's work name the request, the trace and the message`() async throws {
        let stack = try await Stack.shared()
        let phone = try await Phone.make(stack)
        let trace = UUID().uuidString.lowercased().filter { $0 != "-" }
        let answer = try await phone.signIn(
            email: "logged-\(UUID().uuidString)@example.org", faces: Photos.sameFace, traceparent: "00-\(trace)-\(Self.phoneSpan)-00")
        _ = try await phone.outcome(of: answer)
        func line(_ text: String) -> JSONAnswer? {
            stack.allLogs().split(separator: "\n").map { JSONAnswer.parse(Array($0.utf8)) }
                .first { $0["trace_id"].text == trace && $0["msg"].text == text }
        }
        let request = try #require(line("session started")?["request_id"].text)
        // The outcome is committed before it is logged.
        let decided = try await eventually("the decision is logged") { line("session decided") }
        #expect(decided["service"].text == "face-matching-worker")
        #expect(decided["request_id"].text == request)
        #expect(decided["message_id"].text.flatMap(UUID.init) != nil)
        #expect(stack.traces?.spans.contains { $0.traceID == trace } == false, "it asked not to be recorded")
    }
}
