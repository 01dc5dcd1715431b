import CommandLineSupport
import Foundation
import TestSupport
import Testing

@testable import HeliographLoad

struct LoadReportTests {
    /// A hundred sign-ins of 10 to 1,000 ms, two of which failed after that, and one upload that was refused.
    private func report(objectives: [String] = []) -> LoadReport {
        let start = ContinuousClock.now
        let recorder = LoadRecorder(start: start, warmUp: .zero)
        for number in 1...100 {
            let arrival = Arrival(number: number, offset: .milliseconds(number * 100), kind: .signIn)
            recorder.begin(arrival)
            for stage in [LoadStage.answer, .done] {
                recorder.reach(stage, arrival, at: start + arrival.offset + .milliseconds(number * (stage == .done ? 10 : 1)))
            }
            recorder.end(arrival, as: "succeeded")
            recorder.finish(arrival, number <= 2 ? LoadFailure(at: .push, "not within 1m") : nil)
        }
        let upload = Arrival(number: 101, offset: .zero, kind: .upload)
        recorder.begin(upload)
        recorder.finish(upload, LoadFailure(.refused, at: .answer, "429 rate_limited"))
        let plan = LoadPlan(
            url: "http://127.0.0.1:8080", label: nil, perSecond: 10, pattern: .constant,
            mix: LoadMix(weights: [.signIn: 100, .upload: 1]), seed: 1, duration: .seconds(10), warmUp: .zero, maxConcurrency: 200,
            patience: .seconds(60), countsPushes: true, objectives: objectives.compactMap(LoadObjective.init(argument:)),
            maxErrorShare: 0.05)
        return LoadReport(
            plan: plan, startedAt: Date(timeIntervalSince1970: 1_763_731_805), measured: .seconds(10), snapshot: recorder.snapshot,
            remains: LoadCleanup.Remains(accounts: 3))
    }

    @Test func `the text reports the parameters, the outcomes and the remains`() {
        let lines = report(objectives: ["sign-in p99<2s", "sign-in answer p50<10ms"]).lines(.plain).map(\.text)
        #expect(lines[0] == "Load on http://127.0.0.1:8080 at 2025-11-21T13:30:05.000Z")
        for line in [
            "sign-in  answer    100    10.0   50ms   90ms   95ms   99ms  100ms  100ms",
            "sign-in  done      100    10.0  502ms  901ms  950ms  991ms   1.0s   1.0s",
            "sign-in    100         98       2        0            0  succeeded 100",
            "upload       1          0       0        1            0  –",
            "not within 1m     sign-in  push        2    2.0 %",
            "sign-in p99<2s           991ms  met",
            "sign-in answer p50<10ms   50ms  MISSED",
            "  3 accounts (load-…@example.org), with face templates: the API deletes no accounts.",
        ] {
            #expect(lines.contains(line), "\(lines.joined(separator: "\n"))")
        }
    }

    @Test func `an objective is met below its limit, and the error limit up to its value`() {
        #expect(report().isGood && report(objectives: ["sign-in p99<992ms"]).isGood)
        #expect(!report(objectives: ["sign-in p99<991ms"]).isGood)
        #expect(!report(objectives: ["sign-in push p50<1m"]).isGood, "no push was measured")
    }

    @Test func `the JSON report has the same figures`() throws {
        let json = JSONAnswer.parse(Array(try JSONOutput.text(report(objectives: ["sign-in p99<2s"])).text.utf8))
        let signIn = json["kinds"].elements[0]
        #expect(signIn["kind"].text == "sign-in" && signIn["asked"] == .number(100) && signIn["failed"] == .number(2))
        #expect(signIn["latency_milliseconds"]["done"]["quantiles"]["p50"] == .number(501.759))
        #expect(signIn["errors"].elements[0]["reason"].text == "not within 1m")
        #expect(json["objectives"].elements.map { $0["ok"] } == [.bool(true), .bool(true)] && json["ok"] == .bool(true))
        #expect(json["plan"]["mix"].text == "sign-in=100,upload=1")
    }

    @Test func `a report without actions can be printed, and its verdict is bad`() {
        let plan = LoadPlan(
            url: "http://127.0.0.1", label: nil, perSecond: 1, pattern: .poisson, mix: .standard, seed: 1, duration: .seconds(1),
            warmUp: .zero, maxConcurrency: 1, patience: .seconds(1), countsPushes: false, objectives: [], maxErrorShare: 0.01)
        let report = LoadReport(
            plan: plan, startedAt: Date(), measured: .zero, snapshot: LoadRecorder.Snapshot(), remains: nil)
        #expect(!report.isGood)
        #expect(!report.lines(.plain).map(\.text).joined().contains("nan"))
    }
}
