internal import FoundationEssentials
internal import Storage
internal import WireFormat

/// The output of `push report`: tables, or JSON.
struct PushReport {
    /// The triggers by which apps fetch an outcome, in the order of the report.
    private static let triggers = ["push", "poll", "launch"]

    let since: Date
    let figures: [PushFigures]
    /// Counts of image jobs by the trigger of the first fetch of their outcome.
    let firstReads: [String: Int]

    func lines(_ style: TextStyle) -> [String] {
        guard !figures.isEmpty || !firstReads.isEmpty else { return ["Since \(HumanUnits.timestamp(since)): no pushes."] }
        var table = Table([
            .init("KIND"), .init("FORM"), .init("ACCEPTED", .right), .init("DEAD", .right), .init("UNSENT", .right),
            .init("SUPPRESSED", .right), .init("DELIVERED", .right), .init("OPENED", .right), .init("DISMISSED", .right),
            .init("OPEN RATE", .right),
        ])
        for row in figures {
            let counts = [row.accepted, row.dead, row.unsent, row.suppressed, row.delivered, row.opened, row.dismissed]
            table.add(
                [.init(row.kind.rawValue), .init(row.form)] + counts.map { Table.Cell("\($0)") }
                    + [.init(HumanUnits.percent(row.openRate))])
        }
        var lines = table.lines(style)
        lines += ["", "Open rate: rich \(HumanUnits.percent(openRate(rich: true))), plain \(HumanUnits.percent(openRate(rich: false)))."]
        let total = firstReads.values.reduce(0, +)
        let parts = Self.triggers.map { "\($0) \(HumanUnits.percent(Self.share(firstReads[$0] ?? 0, of: total)))" }
        lines += ["Outcomes of \(HumanUnits.count(total, "image job")) fetched because of: \(parts.joined(separator: ", "))."]
        return lines
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

extension PushReport: Encodable {
    private struct Document: Encodable {
        let since: Date
        let kinds: [Kind]
        let openRate: OpenRate
        let firstFetchedBy: [String: Int]
    }

    private struct OpenRate: Encodable {
        let rich: Double?
        let plain: Double?
    }

    private struct Kind: Encodable {
        let kind: String
        let form: String
        let accepted: Int
        let dead: Int
        let unsent: Int
        let suppressed: Int
        let delivered: Int
        let opened: Int
        let dismissed: Int
        let openRate: Double?
    }

    func encode(to encoder: any Encoder) throws {
        let kinds = figures.map { row in
            Kind(
                kind: row.kind.rawValue, form: row.form, accepted: row.accepted, dead: row.dead, unsent: row.unsent,
                suppressed: row.suppressed, delivered: row.delivered, opened: row.opened, dismissed: row.dismissed,
                openRate: row.openRate)
        }
        let counts = Self.triggers.map { ($0, firstReads[$0] ?? 0) }
        try Document(
            since: since, kinds: kinds, openRate: OpenRate(rich: openRate(rich: true), plain: openRate(rich: false)),
            firstFetchedBy: Dictionary(uniqueKeysWithValues: counts)
        ).encode(to: encoder)
    }
}
