import Foundation
import Testing

@testable import heliograph_bench

struct ComparisonTests {
    private static let baseline = Data(
        """
        [{"name": "consume", "value": 900, "unit": "messages/s", "ratio": 1.0, "bar": 0.8, "better": "more", "noise": 0.05},
         {"figure": "publish to handler p99", "value": 2.0, "unit": "ms", "bar": 5, "better": "less"},
         {"fault": "F1", "recovery_p99_s": 16.0, "recovery_bar_s": 20}, {"fault": "F2"}]
        """.utf8)

    @Test(arguments: [
        (#"{"name": "consume", "value": 500, "unit": "messages/s", "ratio": 0.96}"#, "1 ×", "0.96 ×", ""),
        (#"{"name": "consume", "value": 900, "unit": "messages/s", "ratio": 0.94}"#, "1 ×", "0.94 ×", "WORSE"),
        (#"{"name": "consume", "value": 900, "unit": "messages/s", "ratio": 1.2}"#, "1 ×", "1.2 ×", "better"),
        (#"{"name": "publish to handler p99", "value": 2.2, "unit": "ms", "better": "less"}"#, "2 ms", "2.2 ms", ""),
        (#"{"name": "publish to handler p99", "value": 2.4, "unit": "ms", "better": "less"}"#, "2 ms", "2.4 ms", "WORSE"),
        (#"{"fault": "F1", "title": "killed", "recovery_p99_s": 19.0}"#, "16 s", "19 s", "WORSE"),
        (#"{"fault": "F1", "title": "killed", "recovery_p99_s": 9.0}"#, "16 s", "9 s", "better"),
        (#"{"fault": "F2", "title": "killed"}"#, "–", "–", ""),
        (#"{"name": "consume", "value": 900, "unit": "messages/s"}"#, "1 ×", "900 messages/s", "not in the baseline"),
        (#"{"name": "publish to handler p99", "value": 2.0, "unit": "ms", "ratio": 1.4}"#, "2 ms", "1.4 ×", "not in the baseline"),
        (#"{"name": "new", "value": 1, "unit": "s"}"#, "–", "1 s", "not in the baseline"),
    ])
    func `a figure is worse when it differs by more than its noise`(line: String, baseline: String, now: String, verdict: String) throws {
        let row = try #require(try Comparison(of: [line], with: Self.baseline).rows.first)
        #expect((row.baseline, row.now, row.verdict.rawValue) == (baseline, now, verdict))
    }

    @Test func `the table says which figures are worse`() throws {
        let worse = #"{"name": "consume", "value": 1, "unit": "messages/s", "ratio": 0.1, "better": "more"}"#
        let text = try Comparison(of: [worse], with: Self.baseline).text
        #expect(
            text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) } == [
                "figure   baseline  now", "consume  1 ×       0.1 ×  WORSE", "Worse: consume",
            ])
        #expect(try Comparison(of: [], with: Self.baseline).text.hasSuffix("Nothing is worse than the baseline by more than its noise."))
    }
}
