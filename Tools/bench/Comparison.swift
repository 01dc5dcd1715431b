import CommandLineSupport
import Foundation

/// Figures beside those of a baseline. Both are lines of `heliograph-bench` or of `heliograph-faults`; a baseline is an array of them,
/// in which `noise` is the share by which a figure differs between runs of the same code.
struct Comparison {
    /// A figure of a line; of a row of the fault matrix, its recovery time.
    private struct Recorded: Decodable {
        /// The share that differs between runs when the baseline does not tell.
        static let defaultNoise = 0.15

        let name: String
        /// The ratio to the reference of the same run, or else the value; nil without a measurement.
        let value: Double?
        let isRatio: Bool
        let unit: String
        let moreIsBetter: Bool?
        let noise: Double

        enum CodingKeys: String, CodingKey {
            case name, figure, fault, value, unit, ratio, better, noise
            case recovery = "recovery_p99_s"
        }

        init(from decoder: any Decoder) throws {
            let line = try decoder.container(keyedBy: CodingKeys.self)
            let fault = try line.decodeIfPresent(String.self, forKey: .fault)
            let other = try line.decodeIfPresent(String.self, forKey: .figure) ?? fault
            name = try other ?? line.decode(String.self, forKey: .name)
            let ratio = try line.decodeIfPresent(Double.self, forKey: .ratio)
            let absolute = try line.decodeIfPresent(Double.self, forKey: fault == nil ? .value : .recovery)
            value = ratio ?? absolute
            isRatio = ratio != nil
            unit = try ratio != nil ? "×" : fault != nil ? "s" : line.decodeIfPresent(String.self, forKey: .unit) ?? ""
            let better = try line.decodeIfPresent(String.self, forKey: .better)
            moreIsBetter = fault != nil ? false : better.map { $0 == "more" }
            noise = try line.decodeIfPresent(Double.self, forKey: .noise) ?? Self.defaultNoise
        }
    }

    /// A figure with its value in the baseline.
    struct Row: Equatable {
        enum Verdict: String { case worse = "WORSE", better, same = "", new = "not in the baseline" }

        let name: String
        let baseline: String
        let now: String
        let verdict: Verdict
    }

    /// The measured figures, in their order.
    let rows: [Row]

    /// - Throws: `DecodingError` when a line or the baseline is not of the form.
    init(of lines: [String], with baseline: Data) throws {
        let old = try JSONDecoder().decode([Recorded].self, from: baseline)
        let known = Dictionary(old.map { ($0.name, $0) }, uniquingKeysWith: { $1 })
        rows = try lines.map { line in
            let now = try JSONDecoder().decode(Recorded.self, from: Data(line.utf8))
            return Self.row(known[now.name], now)
        }
    }

    private static func row(_ old: Recorded?, _ now: Recorded) -> Row {
        func text(_ figure: Recorded?) -> String {
            guard let figure, let value = figure.value else { return "–" }
            return String(format: "%.3g ", value) + figure.unit
        }
        let verdict: Row.Verdict
        // A figure that has got a reference since, or lost it, is another one.
        if let old, old.isRatio != now.isRatio {
            verdict = .new
        } else if let old, let before = old.value, let after = now.value {
            let gain = (now.moreIsBetter ?? old.moreIsBetter ?? true) ? after - before : before - after
            verdict = abs(gain) <= old.noise * abs(before) ? .same : gain < 0 ? .worse : .better
        } else {
            verdict = old == nil ? .new : .same
        }
        return Row(name: now.name, baseline: text(old), now: text(now), verdict: verdict)
    }

    /// The names of the figures that are worse than in the baseline by more than their noise.
    var worse: [String] { rows.filter { $0.verdict == .worse }.map(\.name) }

    /// The rows as a table, and which figures are worse.
    var text: String {
        var table = Table(["figure", "baseline", "now", ""])
        for row in rows { table.add([row.name, row.baseline, row.now, row.verdict.rawValue].map { Table.Cell($0) }) }
        let summary =
            worse.isEmpty ? "Nothing is worse than the baseline by more than its noise." : "Worse: \(worse.joined(separator: ", "))"
        return (table.lines(.plain).map(\.text) + [summary]).joined(separator: "\n")
    }
}
