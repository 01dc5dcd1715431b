/// The report as one self-contained HTML file.
extension LoadReport {
    var html: String {
        let title = "Heliograph under load"
        let head = HTML.element(
            "head", [:],
            [
                "<meta charset=\"utf-8\">", "<meta name=\"viewport\" content=\"width=device-width\">",
                .element("title", [:], title), Self.style,
            ])
        let body = HTML.element(
            "body", [:],
            [
                .element("h1", [:], title), .element("p", ["class": "verdict \(isGood ? "good" : "bad")"], verdictSentence),
                .element("dl", ["class": "tiles"], tiles), .element("h2", [:], "Objectives"), objectives,
                .element("h2", [:], "Latency over time"), latencyOverTime, .element("h2", [:], "Latency by percentile"),
                percentileCurve, latencies, .element("h2", [:], "Throughput over time"), throughput,
                .element("h2", [:], "Outcomes"), counts, .element("h2", [:], "Errors"), errors,
                .element("h2", [:], "Parameters"), parameters, .element("h2", [:], "Left behind"),
                .element("ul", [:], leftBehind.map { .element("li", [:], $0) }), Self.explanation,
            ])
        return "<!doctype html>\n" + HTML.element("html", ["lang": "en"], [head, body]).text + "\n"
    }

    private var verdictSentence: String {
        let missed = verdicts.filter { !$0.isMet }.map(\.objective)
        return missed.isEmpty ? "All objectives met." : "Missed: \(missed.joined(separator: ", "))."
    }

    private var tiles: [HTML] {
        let figures =
            [
                ("asked for", "\(asked)"), ("succeeded", "\(succeeded)"),
                ("succeeded a second", HumanUnits.rate(perSecond(succeeded))),
            ] + kinds.map { ("\($0.rawValue) p99", Self.text(latencies($0, $0.end).quantile(0.99))) }
        return figures.map { .element("div", [:], [.element("dt", [:], $0.0), .element("dd", [:], $0.1)]) }
    }

    private var objectives: HTML {
        .table(
            ["Objective", "Found", ""],
            verdicts.map { verdict in
                let mark = HTML.element("b", ["class": verdict.isMet ? "good" : "bad"], verdict.isMet ? "met" : "missed")
                return [.text(verdict.objective), .text(verdict.found), mark]
            })
    }

    private var latencies: HTML {
        .table(
            ["Kind", "Until", "Count"] + Self.percentiles.map { Self.name($0).lowercased() } + ["Max"],
            kinds.flatMap { kind in
                stages(of: kind).map { stage in
                    let latencies = latencies(kind, stage)
                    let times = Self.percentiles.map { Self.text(latencies.quantile($0 / 100)) }
                    let max = latencies.count > 0 ? HumanUnits.age(latencies.max) : HumanUnits.nothing
                    return ([kind.rawValue, stage.rawValue, "\(latencies.count)"] + times + [max]).map(HTML.text)
                }
            })
    }

    private var counts: HTML {
        .table(
            ["Kind", "Asked", "Succeeded", "Failed", "Refused (429)", "Not started", "Outcomes in the API's words"],
            kinds.map { kind in
                let tally = tally(kind)
                let outcomes = tally.outcomes.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { "\($0.key) \($0.value)" }
                let numbers = [tally.asked, tally.succeeded, tally.count(.failed), tally.count(.refused), tally.count(.notStarted)]
                return [HTML.text(kind.rawValue)] + numbers.map { HTML.text("\($0)") } + [.text(outcomes.joined(separator: ", "))]
            })
    }

    private var errors: HTML {
        guard let most = failures.first?.count else { return .element("p", [:], "None.") }
        return .table(
            ["Reason", "Kind", "Before", "Count", ""],
            failures.map { kind, failure, count in
                let bar = HTML.element(
                    "div", ["class": "bar", "style": "width:\(max(1, count * 200 / most))px"])
                return [
                    .text(failure.reason), .text(kind.rawValue), .text(failure.stage?.rawValue ?? HumanUnits.nothing),
                    .text("\(count)"), bar,
                ]
            })
    }

    private var parameters: HTML {
        let lines = [
            ("Installation", plan.url), ("Label", plan.label ?? "none (--label)"),
            ("Started", HumanUnits.timestamp(startedAt)),
            ("Arrivals", "\(HumanUnits.rate(plan.perSecond))/s, \(plan.pattern.rawValue), seed \(plan.seed)"),
            ("Mix", plan.mix.description),
            ("Measured", "\(HumanUnits.age(measured)) of \(HumanUnits.age(plan.duration))"),
            ("Warm-up", HumanUnits.age(plan.warmUp)),
            ("At once", "\(plan.maxConcurrency) at most, \(HumanUnits.age(plan.patience)) each"),
            ("Started late", "p99 \(Self.text(snapshot.lateness.quantile(0.99))), at most \(HumanUnits.age(snapshot.lateness.max))"),
            ("Pushes", plan.countsPushes ? "observed at an FCM emulator" : "not observed (--fcm-emulator)"),
        ]
        return .table(["", ""], lines.map { [.text($0.0), .text($0.1)] })
    }
}
