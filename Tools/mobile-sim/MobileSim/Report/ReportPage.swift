internal import Foundation

/// The report as a self-contained page, in light and dark.
struct ReportPage {
    let report: SimReport

    init(_ report: SimReport) { self.report = report }

    var html: String {
        """
        <!doctype html>
        <html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
        <meta name="color-scheme" content="light dark"><title>mobile-sim, seed \(report.scenario.seed)</title>
        <style>\(Self.style)</style></head><body><main>
        \(head)
        \(section("Time to the result", "Completed orders, by what made the app ask for the state that told the end.", times))
        \(section("Orders and ends by minute", legend([("orders", "poll"), ("ends", "push")]), ReportPlot.minutes(report.minutes)))
        \(section("How orders and sessions ended", "", ends))
        \(section("Challenges", "Sessions by the poses that were shown, and the result of the check for a live person.", challenges))
        \(section("Terminal events", "The most that one process of an app got for an order or a session.", events))
        \(section("What went wrong on the phones’ side", "", faults))
        \(section("Pushes", "", bars(report.pushes, "poll")))
        \(section("Calls that failed", "By code, also where another attempt succeeded.", bars(Array(report.errors.prefix(20)), "launch")))
        \(section("What must hold", "", rules))
        \(violations)
        <footer>\(text(Self.dateText(report.date))) · report.json beside this page has all numbers.</footer>
        </main></body></html>

        """
    }

    // MARK: Parts

    private var head: String {
        let isGood = report.violations.isEmpty
        let verdict = isGood ? "Everything that must hold held." : "\(report.violations.count) violations."
        let tiles: [(String, String)] = [
            ("\(report.scenario.phones)", "phones"), (SimConsole.clock(report.scenario.duration), "minutes"),
            ("\(report.orders)", "orders"),
            ("\(report.sessionEnds.reduce(0) { $0 + $1.count })", "sessions by face"), ("\(report.launches)", "starts of apps"),
            ("\(report.requests)", "answered requests"), ("\(report.leakedFiles)", "files left"), ("\(report.scenario.seed)", "seed"),
        ]
        let kinds = report.kinds.map { "\($0.count) \($0.name)" }.joined(separator: ", ")
        return """
            <header><p class="eyebrow">Heliograph · mobile-sim</p><h1>\(report.scenario.phones) phones for \
            \(SimConsole.clock(report.scenario.duration)) minutes</h1>
            <p class="verdict \(isGood ? "good" : "bad")">\(text(verdict))</p></header>
            <div class="tiles">\(tiles.map { "<div><b>\(text($0.0))</b><span>\(text($0.1))</span></div>" }.joined())</div>
            <p class="sub">Phones by sign-in: \(text(kinds)). Enrolling phones sign up and in by face; sharing phones sign in by face to \
            an account of those; the others sign in with Firebase.</p>
            """
    }

    private var times: String {
        let names = report.results.map { result in
            (
                "by \(result.trigger.rawValue): \(result.seconds.count)"
                    + (result.seconds.count == 0 ? "" : ", p50 \(Self.time(result.seconds.p50)), p99 \(Self.time(result.seconds.p99))"),
                result.trigger.rawValue
            )
        }
        let curves = report.results.map { ($0.trigger.rawValue, $0.trigger.rawValue, $0.seconds.curve) }
        let sessions = report.sessions.map { session in
            "<p class=\"sub\">\(text(session.kind)): \(session.seconds.count), p50 \(Self.time(session.seconds.p50)), "
                + "p99 \(Self.time(session.seconds.p99))</p>"
        }
        return legend(names) + ReportPlot.distributions(curves) + sessions.joined()
    }

    private var ends: String {
        ReportPlot.bars(
            report.orderEnds.map { ("order \($0.name)", $0.count, $0.name == "completed" ? "push" : "launch") }
                + report.sessionEnds.map {
                    ($0.name, $0.count, $0.name.hasSuffix("enrolled") || $0.name.hasSuffix("signed in") ? "push" : "launch")
                },
            title: "Ends")
    }

    private var challenges: String {
        ReportPlot.bars(
            report.challenges.map { ($0.name, $0.count, $0.name.hasSuffix(": passed") ? "push" : "launch") }, title: "Challenges")
    }

    private var events: String {
        func rows(_ counts: [SimReport.Count], _ name: String) -> [(name: String, count: Int, style: String)] {
            counts.map { ("\(name) with \($0.name)", $0.count, $0.name == "1" ? "push" : "launch") }
        }
        return ReportPlot.bars(
            rows(report.eventsPerOrder, "orders") + rows(report.eventsPerSession, "sessions"), title: "Terminal events")
    }

    private var faults: String { ReportPlot.bars(report.faults.map { ($0.kind.rawValue, $0.count, "launch") }, title: "Faults") }

    private func bars(_ counts: [SimReport.Count], _ style: String) -> String {
        ReportPlot.bars(counts.map { ($0.name, $0.count, style) }, title: "Counts")
    }

    private var rules: String {
        let rows = report.rules.map { rule, count in
            "<li class=\"\(count == 0 ? "good" : "bad")\"><b>\(count == 0 ? "holds" : "\(count)")</b> \(text(rule.rawValue))</li>"
        }
        return "<ul class=\"rules\">\(rows.joined())</ul>"
    }

    private var violations: String {
        report.violations.prefix(100).map { violation in
            """
            <details><summary>Phone \(violation.phone): \(text(violation.text))</summary>
            <pre>\(text(violation.lines.joined(separator: "\n")))</pre></details>
            """
        }.joined(separator: "\n")
    }

    private func section(_ title: String, _ lead: String, _ body: String) -> String {
        // A legend is markup already.
        let lead = lead.isEmpty ? "" : lead.hasPrefix("<") ? lead : "<p class=\"sub\">\(text(lead))</p>"
        return "<section><h2>\(text(title))</h2>\(lead)\(body)</section>"
    }

    private func legend(_ entries: [(String, String)]) -> String {
        "<p class=\"legend\">\(entries.map { "<span class=\"\($0.1)\">\(text($0.0))</span>" }.joined(separator: " "))</p>"
    }

    private func text(_ text: String) -> String { ReportPlot.escaped(text) }

    static func time(_ seconds: Double?) -> String {
        guard let seconds else { return "–" }
        return seconds < 1
            ? "\(Int((seconds * 1_000).rounded())) ms" : seconds < 10 ? "\((seconds * 10).rounded() / 10) s" : "\(Int(seconds)) s"
    }

    static func dateText(_ date: Date) -> String { date.formatted(.iso8601) }
}
