import Foundation

/// The result of a row.
public struct FaultReport: Encodable, Sendable {
    /// The result of a further expectation of a row.
    public struct Check: Encodable, Sendable {
        public let name: String
        public let ok: Bool
        public let detail: String
    }

    /// The name of the row, such as `F1`.
    public let fault: String
    public let title: String
    /// The number of published pieces of work; most have two effects, their own and that of the event that follows.
    public var published = 0
    /// The number of effects, including duplicates.
    public var effects = 0
    /// The number of missing effects.
    public var lost = 0
    /// The number of effects beyond one each.
    public var duplicated = 0
    /// The number of handler runs beyond the first one of each message, which the inbox absorbed.
    public var rerun = 0
    /// The median time from a fault to the effects that were due at it, in seconds; nil when there were none.
    public var recoveryP50: Double?
    /// The 99th percentile of these times, in seconds; nil when there were none.
    public var recoveryP99: Double?
    /// The maximum of ``recoveryP99``, in seconds; nil when it is not limited.
    public var recoveryBar: Double?
    public var checks: [Check] = []
    /// The error that ended the row early; nil when it was completed.
    public var error: String?
    /// The duration of the row, in seconds.
    public var seconds = 0.0

    init(_ row: FaultRow, _ scale: Scale) {
        fault = row.id
        title = row.title
        recoveryBar = row.recoveryBar?(scale)
    }

    enum CodingKeys: String, CodingKey {
        case fault, title, published, effects, lost, duplicated, rerun, checks, error, seconds, passed
        case recoveryP50 = "recovery_p50_s"
        case recoveryP99 = "recovery_p99_s"
        case recoveryBar = "recovery_bar_s"
    }

    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(fault, forKey: .fault)
        try values.encode(title, forKey: .title)
        try values.encode(passed, forKey: .passed)
        for (key, number) in [
            (CodingKeys.published, published), (.effects, effects), (.lost, lost), (.duplicated, duplicated), (.rerun, rerun),
        ] {
            try values.encode(number, forKey: key)
        }
        try values.encodeIfPresent(recoveryP50, forKey: .recoveryP50)
        try values.encodeIfPresent(recoveryP99, forKey: .recoveryP99)
        try values.encodeIfPresent(recoveryBar, forKey: .recoveryBar)
        try values.encode(seconds, forKey: .seconds)
        try values.encode(checks, forKey: .checks)
        try values.encodeIfPresent(error, forKey: .error)
    }
}

extension FaultReport {
    /// Whether work was published, each of its effects was taken once, and every other expectation of the row was met.
    public var passed: Bool { failures.isEmpty }

    /// The expectations that the row did not meet, as sentences.
    public var failures: [String] {
        var failures: [String] = []
        if let error { failures.append(error) }
        if published == 0 { failures.append("nothing was published") }
        if lost > 0 { failures.append("\(lost) effects are lost") }
        if duplicated > 0 { failures.append("\(duplicated) effects are duplicates") }
        if let bar = recoveryBar {
            if let recoveryP99 {
                if recoveryP99 > bar { failures.append("recovery p99 is \(recoveryP99) s, at most \(bar) s is allowed") }
            } else {
                failures.append("the fault hit nothing that was in work")
            }
        }
        failures += checks.filter { !$0.ok }.map { "\($0.name): \($0.detail)" }
        return failures
    }

    /// The verdict as text, with all failures.
    public var summary: String {
        (["\(fault) \(passed ? "ok" : "FAILED") after \(seconds) s"] + failures).joined(separator: "\n  ")
    }

    /// The report as one line of JSON.
    public var line: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }

    /// Returns the reports as a text table.
    public static func table(_ reports: [FaultReport]) -> String {
        let header = ["fault", "", "published", "effects", "lost", "duplicated", "rerun", "p50 s", "p99 s", "verdict"]
        let rows = reports.map { report in
            [
                report.fault, report.title, "\(report.published)", "\(report.effects)", "\(report.lost)",
                "\(report.duplicated)", "\(report.rerun)", text(report.recoveryP50), text(report.recoveryP99),
                report.passed ? "ok" : "FAILED",
            ]
        }
        let widths = header.indices.map { column in ([header] + rows).map { $0[column].count }.max() ?? 0 }
        return ([header] + rows).map { row in
            row.enumerated().map { column, cell in
                let padding = String(repeating: " ", count: widths[column] - cell.count)
                return (2...8).contains(column) ? padding + cell : cell + padding
            }.joined(separator: "  ")
        }.joined(separator: "\n")
    }

    private static func text(_ seconds: Double?) -> String { seconds.map { String(format: "%.1f", $0) } ?? "–" }
}
