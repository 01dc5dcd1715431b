internal import Foundation

/// Plots as SVG, with the classes of ``ReportPage`` for colours.
enum ReportPlot {
    static let width = 720.0
    private static let left = 56.0
    private static let right = 28.0

    /// A line of a distribution: its name and class, and its quantiles for 0, 1/100, …, 1.
    typealias Curve = (name: String, style: String, values: [Double])

    /// Distributions: the share of results that were there after a time, on a logarithmic axis.
    static func distributions(_ curves: [Curve]) -> String {
        let height = 300.0, top = 16.0, bottom = 44.0
        let values = curves.flatMap(\.values).filter { $0 > 0 }
        guard let smallest = values.min(), let largest = values.max() else { return empty }
        let low = floor(log10(max(0.01, smallest)))
        let high = max(low + 1, ceil(log10(max(0.02, largest))))
        func x(_ seconds: Double) -> Double {
            left + (log10(max(seconds, pow(10, low))) - low) / (high - low) * (width - left - right)
        }
        func y(_ share: Double) -> Double { top + (1 - share) * (height - top - bottom) }
        var body = ""
        for share in [0, 0.25, 0.5, 0.75, 1] {
            body += line(left, y(share), width - right, y(share), "grid") + text(left - 8, y(share) + 4, "\(Int(share * 100)) %", "end")
        }
        for power in stride(from: low, through: high, by: 1) {
            let seconds = pow(10, power)
            body += line(x(seconds), top, x(seconds), height - bottom, "grid")
            body += text(x(seconds), height - bottom + 18, seconds < 1 ? "\(Int(seconds * 1_000)) ms" : "\(Int(seconds)) s", "middle")
        }
        body += text((left + width - right) / 2, height - 6, "time from the order until the app knows", "middle")
        for curve in curves where curve.values.count > 1 {
            let points = curve.values.enumerated().map { index, seconds in
                number(x(seconds)) + "," + number(y(Double(index) / Double(curve.values.count - 1)))
            }
            body += "<polyline class=\"curve \(curve.style)\" points=\"\(points.joined(separator: " "))\"/>"
        }
        return svg(height, "Distribution of the time to the result", body)
    }

    /// Bars with names: one of two styles each.
    static func bars(_ rows: [(name: String, count: Int, style: String)], title: String) -> String {
        guard let largest = rows.map(\.count).max(), largest > 0 else { return empty }
        let step = 26.0, label = 330.0
        var body = ""
        for (index, row) in rows.enumerated() {
            let y = Double(index) * step + 6
            // A bar with a value above zero is always visible.
            let length = row.count == 0 ? 0 : max(2, Double(row.count) / Double(largest) * (width - label - 90))
            body += text(label - 10, y + 13, row.name, "end")
            body +=
                "<rect class=\"\(row.style)\" x=\"\(number(label))\" y=\"\(number(y))\" width=\"\(number(length))\" "
                + "height=\"17\" rx=\"3\"/>"
            body += text(label + length + 8, y + 13, "\(row.count)", "start")
        }
        return svg(Double(rows.count) * step + 8, title, body)
    }

    /// Orders and ends by minute.
    static func minutes(_ minutes: [SimReport.Minute]) -> String {
        let height = 200.0, top = 12.0, bottom = 40.0
        guard let largest = minutes.map({ max($0.orders, $0.ends) }).max(), largest > 0 else { return empty }
        let step = (width - left - right) / Double(minutes.count)
        func y(_ count: Int) -> Double { top + (1 - Double(count) / Double(largest)) * (height - top - bottom) }
        var body = ""
        for share in [0, largest / 2, largest] {
            body += line(left, y(share), width - right, y(share), "grid") + text(left - 8, y(share) + 4, "\(share)", "end")
        }
        for (index, minute) in minutes.enumerated() {
            let x = left + Double(index) * step
            for (count, style, offset) in [(minute.orders, "poll", 0.12), (minute.ends, "push", 0.5)] where count > 0 {
                let bar = height - bottom - y(count)
                body +=
                    "<rect class=\"\(style)\" x=\"\(number(x + step * offset))\" y=\"\(number(y(count)))\" "
                    + "width=\"\(number(step * 0.36))\" height=\"\(number(bar))\" rx=\"1.5\"/>"
            }
            if minutes.count <= 16 || index % 5 == 0 { body += text(x + step / 2, height - bottom + 16, "\(minute.minute)", "middle") }
        }
        body += text((left + width - right) / 2, height - 6, "minute", "middle")
        return svg(height, "Orders and ends by minute", body)
    }

    static func escaped(_ text: String) -> String {
        text.replacingOccurrences(of: "&", with: "&amp;").replacingOccurrences(of: "<", with: "&lt;")
            .replacingOccurrences(of: ">", with: "&gt;").replacingOccurrences(of: "\"", with: "&quot;")
    }

    private static let empty = "<p class=\"none\">There was none.</p>"

    private static func svg(_ height: Double, _ title: String, _ body: String) -> String {
        "<svg viewBox=\"0 0 \(Int(width)) \(Int(height.rounded(.up)))\" role=\"img\" aria-label=\"\(escaped(title))\">\(body)</svg>"
    }

    private static func line(_ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double, _ style: String) -> String {
        "<line class=\"\(style)\" x1=\"\(number(x1))\" y1=\"\(number(y1))\" x2=\"\(number(x2))\" y2=\"\(number(y2))\"/>"
    }

    private static func text(_ x: Double, _ y: Double, _ text: String, _ anchor: String) -> String {
        "<text x=\"\(number(x))\" y=\"\(number(y))\" text-anchor=\"\(anchor)\">\(escaped(text))</text>"
    }

    /// One digit after the point, unless it is 0.
    private static func number(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        let sign = tenths < 0 ? "-" : ""
        return sign + (abs(tenths) % 10 == 0 ? "\(abs(tenths) / 10)" : "\(abs(tenths) / 10).\(abs(tenths) % 10)")
    }
}
