internal import CommandLineSupport
internal import EventBus
internal import FoundationEssentials

/// The output of `top`: the latest snapshot, and the rates since the one before.
struct TopView {
    let interval: Duration
    private var current: (snapshot: BusSnapshot, at: ContinuousClock.Instant)?
    private var previous: (snapshot: BusSnapshot, at: ContinuousClock.Instant)?
    private var failure: String?

    init(interval: Duration) {
        self.interval = interval
    }

    var hasSnapshot: Bool { current != nil }

    mutating func add(_ snapshot: BusSnapshot, at instant: ContinuousClock.Instant = .now) {
        previous = current
        current = (snapshot, instant)
        failure = nil
    }

    /// Shows a failure above the last snapshot.
    mutating func fail(_ message: String) { failure = message }

    func lines(_ style: TextStyle, size: TerminalSize?) -> [PrintableText] {
        guard let current else { return [] }
        let snapshot = current.snapshot
        let time = HumanUnits.timestamp(snapshot.takenAt).prefix(19).replacing("T", with: " ")
        let heading = "heliograph  \(time) UTC  every \(HumanUnits.age(interval))"
        let hint = "q quits"
        let width = size?.columns
        let filling = max(2, (width ?? 0) - heading.count - hint.count)
        var lines = [
            PrintableText(size == nil ? heading : String((heading + String(repeating: " ", count: filling) + hint).prefix(width ?? .max))),
            totals(snapshot, style), snapshot.outboxLine(style), "",
        ]
        if let failure { lines.insert(style.apply(.alarm, to: PrintableText(failure)), at: 1) }
        lines += table(snapshot).lines(style, width: width)
        if size == nil { lines.append("") }
        guard let rows = size?.rows, lines.count > rows, rows > 1 else { return lines }
        return lines.prefix(rows - 1) + [style.apply(.faint, to: "\(lines.count - rows + 1) more lines: enlarge the window")]
    }

    private func totals(_ snapshot: BusSnapshot, _ style: TextStyle) -> PrintableText {
        let groups = snapshot.rows.filter { $0.group != nil }
        let backlog = groups.reduce(0) { $0 + $1.backlog }
        let retrying = groups.reduce(0) { $0 + $1.status.retrying }
        let dead = groups.reduce(0) { $0 + $1.deadLetters.count }
        let oldest = groups.compactMap(\.oldestAge).max()
        let settled = groups.compactMap { rates(of: $0)?.settled }
        let parts: [PrintableText] = [
            "Settled \(settled.isEmpty ? HumanUnits.nothing : HumanUnits.rate(settled.reduce(0, +)))/s",
            "backlog \(backlog)",
            "oldest \(style.apply(Thresholds.age(oldest), to: "\(oldest.map(HumanUnits.age) ?? HumanUnits.nothing)"))",
            "retry \(style.apply(retrying > 0 ? .warning : .none, to: "\(retrying)"))",
            "dead \(style.apply(dead > 0 ? .alarm : .none, to: "\(dead)"))",
        ]
        return parts.joined(separator: " · ")
    }

    private func table(_ snapshot: BusSnapshot) -> Table {
        var table = Table([
            "STREAM", .init("GROUP", omissionRank: 4), .right("APPEND/S", omissionRank: 3), .right("SETTLE/S"), .right("BACKLOG"),
            .right("OLDEST"), .right("RETRY", omissionRank: 1), .right("DEAD"), .right("CONSUMERS", omissionRank: 2),
        ])
        for row in snapshot.rows {
            let rates = rates(of: row)
            func cell(_ rate: Double?) -> Table.Cell {
                rate.map { .init(HumanUnits.rate($0), $0 == 0 ? .faint : .none) } ?? .nothing
            }
            let status = row.status
            table.add([
                .init(row.stream), row.group.map { .init($0) } ?? .nothing, cell(rates?.appended),
                row.group == nil ? .nothing : cell(rates?.settled),
                row.group == nil ? .nothing : .count(row.backlog), .age(row.oldestAge),
                row.group == nil ? .nothing : .count(status.retrying, .warning),
                row.group == nil ? .nothing : .count(row.deadLetters.count, .alarm), .consumers(of: row),
            ])
        }
        return table
    }

    private func rates(of row: BusSnapshot.Row) -> GroupRates? {
        guard let current, let previous,
            let old = previous.snapshot.rows.first(where: { $0.stream == row.stream && $0.group == row.group })
        else { return nil }
        return GroupRates(from: old.status, to: row.status, over: current.at - previous.at)
    }
}
