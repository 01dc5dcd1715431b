/// The report as text.
extension LoadReport {
    func lines(_ style: TextStyle) -> [String] {
        heading + [""] + latencyTable.lines(style) + [""] + countTable.lines(style) + section(failureTable.map { $0.lines(style) })
            + section(verdictTable.lines(style)) + ["", "Left behind:"] + leftBehind.map { "  " + $0 }
    }

    /// The parameters of the load, in sentences.
    var heading: [String] {
        let stopped = measured < plan.duration ? ", stopped after \(HumanUnits.age(measured))" : ""
        let late = snapshot.lateness
        return [
            "Load on \(plan.url) at \(HumanUnits.timestamp(startedAt))" + (plan.label.map { ": \($0)" } ?? ""),
            "\(HumanUnits.rate(plan.perSecond))/s (\(plan.pattern.rawValue), seed \(plan.seed)), \(plan.mix.description), for "
                + "\(HumanUnits.age(plan.duration)) after \(HumanUnits.age(plan.warmUp)) of warm-up\(stopped); "
                + "at most \(plan.maxConcurrency) at once, \(HumanUnits.age(plan.patience)) each",
            "Started after their scheduled time: p50 \(Self.text(late.quantile(0.5))), p99 \(Self.text(late.quantile(0.99))), "
                + "at most \(late.count > 0 ? HumanUnits.age(late.max) : HumanUnits.nothing); included in the latencies",
        ]
    }

    private var latencyTable: Table {
        var table = Table(
            [.init("KIND"), .init("UNTIL"), .init("COUNT", .right), .init("RATE/S", .right)]
                + Self.percentiles.map { .init(Self.name($0), .right) } + [.init("MAX", .right)])
        for kind in kinds {
            for stage in stages(of: kind) {
                let latencies = latencies(kind, stage)
                table.add(
                    [
                        .init(kind.rawValue), .init(stage.rawValue), .init("\(latencies.count)"),
                        .init(HumanUnits.rate(perSecond(latencies.count))),
                    ]
                        + Self.percentiles.map { .init(Self.text(latencies.quantile($0 / 100))) }
                        + [.init(latencies.count > 0 ? HumanUnits.age(latencies.max) : HumanUnits.nothing)])
            }
        }
        return table
    }

    private var countTable: Table {
        var table = Table([
            .init("KIND"), .init("ASKED", .right), .init("SUCCEEDED", .right), .init("FAILED", .right), .init("REFUSED", .right),
            .init("NOT STARTED", .right), .init("OUTCOMES"),
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

    private var failureTable: Table? {
        guard !failures.isEmpty else { return nil }
        var table = Table([.init("ERROR"), .init("KIND"), .init("BEFORE"), .init("COUNT", .right), .init("SHARE", .right)])
        for (kind, failure, count) in failures {
            table.add([
                .init(failure.reason), .init(kind.rawValue), .init(failure.stage?.rawValue ?? HumanUnits.nothing), .init("\(count)"),
                .init(HumanUnits.percent(Double(count) / Double(max(1, tally(kind).asked)))),
            ])
        }
        return table
    }

    private var verdictTable: Table {
        var table = Table([.init("OBJECTIVE"), .init("FOUND", .right), .init("")])
        for verdict in verdicts {
            table.add([
                .init(verdict.objective), .init(verdict.found),
                verdict.isMet ? .init("met") : .init("MISSED", .alarm),
            ])
        }
        return table
    }

    private func section(_ lines: [String]?) -> [String] { lines.map { [""] + $0 } ?? [] }

    func perSecond(_ count: Int) -> Double { measured > .zero ? Double(count) / measured.seconds : 0 }

    static func text(_ latency: Duration?) -> String { latency.map(HumanUnits.age) ?? HumanUnits.nothing }

    /// `P50`, `P99.9`.
    static func name(_ percentile: Double) -> String { "P" + (Int(exactly: percentile).map(String.init) ?? "\(percentile)") }
}
