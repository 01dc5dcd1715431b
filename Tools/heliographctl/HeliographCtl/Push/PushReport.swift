internal import CommandLineSupport
internal import FoundationEssentials
internal import Push
internal import WireFormat

/// The output of `push report`: tables, or JSON.
struct PushReport: Report {
    /// The triggers of apps' fetches of an outcome, in the order of the report.
    private static let triggers = ["push", "poll", "launch"]

    let since: Date
    let figures: [PushFigures]
    /// Counts of image jobs by the trigger of the first fetch of their outcome.
    let firstReads: [String: Int]

    func lines(_ style: TextStyle) -> [PrintableText] {
        guard !figures.isEmpty || !firstReads.isEmpty else { return ["Since \(HumanUnits.timestamp(since)): no pushes."] }
        let counts = ["ACCEPTED", "DEAD", "UNSENT", "SUPPRESSED", "DELIVERED", "OPENED", "DISMISSED", "OPEN RATE"]
        var table = Table(["KIND", "FORM"] + counts.map { Table.Column.right($0) })
        for row in figures {
            let counts = [row.accepted, row.dead, row.unsent, row.suppressed, row.delivered, row.opened, row.dismissed]
            let texts = [row.kind.rawValue, row.form] + counts.map { "\($0)" } + [HumanUnits.percent(row.openRate)]
            table.add(texts.map { Table.Cell($0) })
        }
        let total = firstReads.values.reduce(0, +)
        let parts = Self.triggers.map { "\($0) \(HumanUnits.percent(Self.share(firstReads[$0] ?? 0, of: total)))" }
        return table.lines(style) + [
            "", "Open rate: rich \(HumanUnits.percent(openRate(rich: true))), plain \(HumanUnits.percent(openRate(rich: false))).",
            "Outcomes of \(HumanUnits.count(total, "image job")) fetched because of: \(parts.joined(separator: ", ")).",
        ]
    }

    func encode(to encoder: any Encoder) throws {
        let kinds = figures.map { row -> JSONRecord in
            [
                "kind": row.kind.rawValue, "form": row.form, "accepted": row.accepted, "dead": row.dead, "unsent": row.unsent,
                "suppressed": row.suppressed, "delivered": row.delivered, "opened": row.opened, "dismissed": row.dismissed,
                "open_rate": row.openRate,
            ]
        }
        let fetches: [String: Int] = Dictionary(uniqueKeysWithValues: Self.triggers.map { ($0, firstReads[$0] ?? 0) })
        let record: JSONRecord = [
            "since": since, "kinds": kinds,
            "open_rate": ["rich": openRate(rich: true), "plain": openRate(rich: false)] as JSONRecord,
            "first_fetched_by": fetches,
        ]
        try record.encode(to: encoder)
    }

    /// Opened pushes as a share of accepted ones, over all kinds of one form.
    private func openRate(rich: Bool) -> Double? {
        let rows = figures.filter { $0.hasPicture == rich }
        return Self.share(rows.map(\.opened).reduce(0, +), of: rows.map(\.accepted).reduce(0, +))
    }

    fileprivate static func share(_ part: Int, of whole: Int) -> Double? { whole > 0 ? Double(part) / Double(whole) : nil }
}

extension PushFigures {
    fileprivate var form: String { hasPicture ? "rich" : "plain" }

    fileprivate var openRate: Double? { PushReport.share(opened, of: accepted) }
}
