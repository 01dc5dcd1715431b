import CommandLineSupport
import Foundation

/// The result of a row.
public struct FaultReport: Encodable, Sendable {
    /// The result of a further expectation of a row.
    public struct Check: Encodable, Sendable {
        /// The expectation, as it begins a line of ``FaultReport/failures``.
        public let name: String
        /// Whether the expectation was met.
        public let ok: Bool
        /// The measured values, for the report.
        public let detail: String
    }

    /// The name of the row, such as `F1`.
    public let fault: String
    /// The fault in a few words, the same as the row's.
    public let title: String
    /// The number of published pieces of work; most have two effects: their own, and the effect of the event that follows.
    public var published = 0
    /// The number of effects, including duplicates.
    public var effects = 0
    /// The number of missing effects.
    public var lost = 0
    /// The number of effects beyond one each.
    public var duplicated = 0
    /// The number of handler runs beyond the first one of each message, which the inbox absorbed.
    public var rerun = 0
    /// The median time from a fault to the effects that were due at it, in seconds; nil when no effect was due.
    public var recoveryP50: Double?
    /// The 99th percentile of these times, in seconds; nil when no effect was due.
    public var recoveryP99: Double?
    /// The maximum of ``recoveryP99``, in seconds; nil when it is not limited.
    public var recoveryBar: Double?
    /// The results of the row's further expectations, in the order of their checks.
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

    /// Adds the result of a further expectation.
    mutating func check(_ name: String, _ ok: Bool, _ detail: String) { checks.append(Check(name: name, ok: ok, detail: detail)) }

    enum CodingKeys: String, CodingKey {
        case fault, title, published, effects, lost, duplicated, rerun, checks, error, seconds, passed
        case recoveryP50 = "recovery_p50_s"
        case recoveryP99 = "recovery_p99_s"
        case recoveryBar = "recovery_bar_s"
    }

    /// Writes the members with snake-case names and ``passed``; times that are nil are left out.
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
        var table = Table([
            "fault", "", .right("published"), .right("effects"), .right("lost"), .right("duplicated"), .right("rerun"), .right("p50 s"),
            .right("p99 s"), "verdict",
        ])
        for report in reports {
            let counts = [report.published, report.effects, report.lost, report.duplicated, report.rerun].map { "\($0)" }
            let times = [report.recoveryP50, report.recoveryP99].map { $0.map { String(format: "%.1f", $0) } ?? HumanUnits.nothing }
            let cells = [report.fault, report.title] + counts + times + [report.passed ? "ok" : "FAILED"]
            table.add(cells.map { Table.Cell($0) })
        }
        return table.lines(.plain).map(\.text).joined(separator: "\n")
    }
}
