internal import CommandLineSupport

/// The report as text.
extension LoadReport {
    func lines(_ style: TextStyle) -> [PrintableText] {
        heading + [""] + latencyTable.lines(style) + [""] + countTable.lines(style)
            + (failures.isEmpty ? [] : [""] + failureTable.lines(style)) + [""] + verdictTable.lines(style)
            + ["", "Left behind:"] + leftBehind.map { "  \($0)" }
    }

    /// The parameters of the load, in sentences.
    private var heading: [PrintableText] {
        let stopped = measured < plan.duration ? ", stopped after \(HumanUnits.age(measured))" : ""
        let late = snapshot.lateness
        let lines: [PrintableText] = [
            "Load on \(plan.url) at \(HumanUnits.timestamp(startedAt))" + (plan.label.map { ": \($0)" } ?? ""),
            "\(HumanUnits.rate(plan.perSecond))/s (\(plan.pattern.rawValue), seed \(plan.seed)), \(plan.mix.description), for "
                + "\(HumanUnits.age(plan.duration)) after \(HumanUnits.age(plan.warmUp)) of warm-up\(stopped); "
                + "at most \(plan.maxConcurrency) at once, \(HumanUnits.age(plan.patience)) each",
            "Started after their scheduled time: p50 \(Self.text(late.quantile(0.5))), p99 \(Self.text(late.quantile(0.99))), "
                + "at most \(Self.text(late.quantile(1))); included in the latencies",
        ]
        guard plan.retryTime > .zero else { return lines }
        let reasons = retries.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { "\($0.key) \($0.value)" }
        return lines + ["Sent again: \(reasons.isEmpty ? "nothing" : reasons.joined(separator: ", "))"]
    }

    private var latencyTable: Table {
        let percentiles = Self.percentiles.map { Table.Column.right(Self.name($0)) }
        var table = Table(["KIND", "UNTIL", .right("COUNT"), .right("RATE/S")] + percentiles + [.right("MAX")])
        for kind in kinds {
            for stage in stages(of: kind) {
                let latencies = latencies(kind, stage)
                let quantiles = (Self.percentiles + [100]).map { Self.text(latencies.quantile($0 / 100)) }
                let texts = [kind.rawValue, stage.rawValue, "\(latencies.count)", HumanUnits.rate(perSecond(latencies.count))]
                table.add((texts + quantiles).map { Table.Cell($0) })
            }
        }
        return table
    }

    private var countTable: Table {
        var table = Table([
            "KIND", .right("ASKED"), .right("SUCCEEDED"), .right("FAILED"), .right("REFUSED"), .right("NOT STARTED"), "OUTCOMES",
        ])
        for kind in kinds {
            let tally = tally(kind)
            let outcomes = tally.outcomes.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { "\($0.key) \($0.value)" }
            table.add([
                .init(kind.rawValue), .init("\(tally.asked)"), .init("\(tally.succeeded)"), .count(tally.count(.failed), .alarm),
                .count(tally.count(.refused), .warning), .count(tally.count(.notStarted), .warning),
                .init(outcomes.isEmpty ? HumanUnits.nothing : outcomes.joined(separator: ", ")),
            ])
        }
        return table
    }

    private var failureTable: Table {
        var table = Table(["ERROR", "KIND", "BEFORE", .right("COUNT"), .right("SHARE")])
        for (kind, failure, count) in failures {
            table.add([
                .init(failure.reason), .init(kind.rawValue), .init(failure.stage?.rawValue ?? HumanUnits.nothing), .init("\(count)"),
                .init(HumanUnits.percent(Double(count) / Double(max(1, tally(kind).asked)))),
            ])
        }
        return table
    }

    private var verdictTable: Table {
        var table = Table(["OBJECTIVE", .right("FOUND"), ""])
        for verdict in verdicts {
            table.add([.init(verdict.objective), .init(verdict.found), verdict.isMet ? .init("met") : .init("MISSED", .alarm)])
        }
        return table
    }

    func perSecond(_ count: Int) -> Double { measured > .zero ? Double(count) / measured.seconds : 0 }

    static func text(_ latency: Duration?) -> String { latency.map(HumanUnits.age) ?? HumanUnits.nothing }

    /// `P50`, `P99.9`.
    static func name(_ percentile: Double) -> String { "P" + (Int(exactly: percentile).map(String.init) ?? "\(percentile)") }
}
