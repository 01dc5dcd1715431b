internal import Foundation

/// A page with the plots of a calibration, which needs no other file.
struct CalibrationPage {
    private static let size = (width: 760.0, height: 360.0)
    private static let margin = (left: 70.0, right: 20.0, top: 20.0, bottom: 46.0)
    /// Rates from here to 1 are drawn, on a logarithmic scale of so many decades.
    private static let decades = 5

    let report: CalibrationReport

    init(_ report: CalibrationReport) { self.report = report }

    /// The page as HTML.
    var html: String {
        """
        <!doctype html>
        <html lang="en"><head><meta charset="utf-8"><title>Calibration of faces</title><style>
        :root { color-scheme: light dark; --ink: #1c2733; --faint: #6a7785; --grid: #dfe5ea; --refuse: #2563a8; --accept: #b4452a;
          --paper: #fff }
        @media (prefers-color-scheme: dark) {
          :root { --ink: #e6ebf0; --faint: #8292a1; --grid: #2c3742; --refuse: #6ea8e6; --accept: #ee8a6c; --paper: #12181e } }
        body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 780px; margin: 40px auto;
          padding: 0 20px }
        h1 { font-size: 26px; margin: 0 0 4px } p { margin: 8px 0; color: var(--ink) } .faint { color: var(--faint) }
        table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; font-size: 14px; margin-top: 24px }
        th, td { text-align: right; padding: 5px 8px; border-bottom: 1px solid var(--grid) }
        th:first-child, td:first-child { text-align: left }
        th { font-weight: 600; color: var(--faint) } tr.now td { font-weight: 700 }
        svg { width: 100%; height: auto; margin-top: 16px } text { fill: var(--faint); font: 13px system-ui, sans-serif }
        .key { display: inline-block; width: 12px; height: 12px; border-radius: 2px; margin: 0 6px 0 16px; vertical-align: -1px }
        </style></head><body>
        <h1>Calibration of faces</h1>
        <p>\(report.people.count) people, \(report.photos) photos. The threshold in force is \(label(report.current)).</p>
        <p class="faint">Each line is the share of people whose sign-in is refused at least once, or of pairs of people one of whom is
        accepted as the other; the areas are the bounds of that share (95 %, Clopper and Pearson). A share of 0 is on the axis.</p>
        <p><span class="key" style="background:var(--refuse)"></span>refused people
        <span class="key" style="background:var(--accept)"></span>accepted pairs</p>
        \(plot)
        \(table)
        </body></html>
        """
    }

    // MARK: Plot

    private var plot: String {
        let (width, height) = (Self.size.width, Self.size.height)
        var parts = ["<svg viewBox=\"0 0 \(width) \(height)\" role=\"img\" aria-label=\"Rates by threshold\">"]
        for decade in 0...Self.decades {
            let rate = (0..<decade).reduce(1.0) { rate, _ in rate / 10 }
            let level = y(rate)
            parts.append(line(from: (Self.margin.left, level), to: (width - Self.margin.right, level), "var(--grid)"))
            let percent = CalibrationReport.number(rate * 100, max(0, decade - 2))
            parts.append(text("\(percent) %", at: (Self.margin.left - 8, level + 4), "end"))
        }
        for point in report.points where Int((point.threshold * 100).rounded()) % 5 == 0 {
            parts.append(text(label(point.threshold), at: (x(point.threshold), height - Self.margin.bottom + 20), "middle"))
        }
        parts.append(text("threshold", at: (width / 2, height - 6), "middle"))
        let now = x(report.current)
        parts.append(line(from: (now, Self.margin.top), to: (now, height - Self.margin.bottom), "var(--faint)"))
        parts += curve("var(--refuse)") { $0.falseRefusals } + curve("var(--accept)") { $0.falseAcceptances }
        return (parts + ["</svg>"]).joined(separator: "\n")
    }

    private func label(_ threshold: Float) -> String { CalibrationReport.number(Double(threshold), 2) }

    private func line(from start: (x: Double, y: Double), to end: (x: Double, y: Double), _ colour: String) -> String {
        "<line x1=\"\(start.x)\" y1=\"\(start.y)\" x2=\"\(end.x)\" y2=\"\(end.y)\" stroke=\"\(colour)\"/>"
    }

    private func text(_ text: String, at place: (x: Double, y: Double), _ anchor: String) -> String {
        "<text x=\"\(place.x)\" y=\"\(place.y)\" text-anchor=\"\(anchor)\">\(text)</text>"
    }

    private func curve(_ colour: String, _ failures: (CalibrationReport.Point) -> CalibrationReport.Failures) -> [String] {
        func place(_ point: CalibrationReport.Point, _ rate: Double) -> String { "\(x(point.threshold)),\(y(rate))" }
        let upper = report.points.map { place($0, failures($0).bounds.upper) }
        let lower = report.points.reversed().map { place($0, failures($0).bounds.lower) }
        let line = report.points.map { point in
            place(point, failures(point).groups == 0 ? 0 : Double(failures(point).affected) / Double(failures(point).groups))
        }
        return [
            "<polygon points=\"\((upper + lower).joined(separator: " "))\" fill=\"\(colour)\" opacity=\"0.15\"/>",
            "<polyline points=\"\(line.joined(separator: " "))\" fill=\"none\" stroke=\"\(colour)\" stroke-width=\"2.5\"/>",
        ]
    }

    private func x(_ threshold: Float) -> Double {
        let thresholds = report.points.map(\.threshold)
        guard let first = thresholds.first, let last = thresholds.last, last > first else { return Self.margin.left }
        let share = Double((threshold - first) / (last - first))
        return (Self.margin.left + share * (Self.size.width - Self.margin.left - Self.margin.right)).rounded()
    }

    private func y(_ rate: Double) -> Double {
        let decades = min(Double(Self.decades), rate > 0 ? -log10(rate) : .infinity)
        return (Self.margin.top + decades / Double(Self.decades) * (Self.size.height - Self.margin.top - Self.margin.bottom)).rounded()
    }

    // MARK: Table

    private var table: String {
        let rows = report.points.map { point in
            let cells = [point.falseRefusals, point.falseAcceptances].flatMap { failures in
                [
                    "\(failures.failed) of \(failures.attempts)",
                    "\(CalibrationReport.percent(failures.bounds.lower)) – \(CalibrationReport.percent(failures.bounds.upper))",
                ]
            }
            let columns = ([label(point.threshold)] + cells).map { "<td>\($0)</td>" }.joined()
            return "<tr\(report.isInForce(point) ? " class=\"now\"" : "")>\(columns)</tr>"
        }
        return "<table><tr><th>threshold</th><th>refused</th><th>of people</th><th>accepted</th><th>of pairs</th></tr>"
            + rows.joined(separator: "\n") + "</table>"
    }
}
