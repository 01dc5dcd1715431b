/// A line chart over two axes, as self-contained SVG.
struct LoadDrawing {
    struct Line {
        let name: String
        /// The CSS class of its colour.
        let colour: String
        var isDashed = false
        /// Whether the area below it is filled.
        var isFilled = false
        /// A nil `y` leaves a gap.
        let points: [(x: Double, y: Double?)]
    }

    private static let size = (width: 860.0, height: 280.0)
    private static let margin = (left: 62.0, right: 14.0, top: 14.0, bottom: 30.0)

    let title: String
    let x: LoadAxis
    let y: LoadAxis
    let lines: [Line]

    var html: HTML {
        let (width, height) = Self.size
        let drawing = HTML.element(
            "svg", ["viewBox": "0 0 \(Int(width)) \(Int(height))", "role": "img", "aria-label": title],
            grid + lines.flatMap(draw))
        let legend = lines.map { line in
            HTML.element("span", ["class": "key \(line.colour)\(line.isDashed ? " dashed" : "")"], line.name)
        }
        return .element("figure", [:], [drawing, .element("figcaption", [:], legend)])
    }

    private func left(_ value: Double) -> Double {
        Self.margin.left + x.position(of: value) * (Self.size.width - Self.margin.left - Self.margin.right)
    }

    private func top(_ value: Double) -> Double {
        Self.size.height - Self.margin.bottom
            - y.position(of: value) * (Self.size.height - Self.margin.top - Self.margin.bottom)
    }

    private var grid: [HTML] {
        let bottom = Self.size.height - Self.margin.bottom
        let across = y.ticks.flatMap { tick in
            [
                line(Self.margin.left, top(tick.value), Self.size.width - Self.margin.right, top(tick.value)),
                label(tick.label, Self.margin.left - 8, top(tick.value) + 4, "end"),
            ]
        }
        let down = x.ticks.flatMap { tick in
            [
                line(left(tick.value), bottom, left(tick.value), bottom + 5),
                label(tick.label, left(tick.value), bottom + 20, "middle"),
            ]
        }
        return across + down
    }

    private func line(_ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double) -> HTML {
        .element("path", ["class": "grid", "d": "M\(Self.short(x1)),\(Self.short(y1))L\(Self.short(x2)),\(Self.short(y2))"])
    }

    private func label(_ text: String, _ x: Double, _ y: Double, _ anchor: String) -> HTML {
        .element("text", ["x": Self.short(x), "y": Self.short(y), "text-anchor": anchor], text)
    }

    private func draw(_ line: Line) -> [HTML] {
        let parts = line.points.split { $0.y == nil }.map { part in
            part.map { "\(Self.short(left($0.x))),\(Self.short(top($0.y ?? 0)))" }
        }
        var drawn: [HTML] = []
        for (part, points) in zip(parts, line.points.split(whereSeparator: { $0.y == nil })) {
            // A line of length zero is drawn as a dot by its round ends.
            let path = "M" + part.joined(separator: "L") + (part.count == 1 ? "h0" : "")
            if line.isFilled, let first = points.first, let last = points.last {
                let bottom = Self.short(top(y.range.lowerBound))
                let area = "\(path)L\(Self.short(left(last.x))),\(bottom)L\(Self.short(left(first.x))),\(bottom)Z"
                drawn.append(.element("path", ["class": "area \(line.colour)", "d": area]))
            }
            let style = part.count == 1 ? " dot" : line.isDashed ? " dashed" : ""
            drawn.append(.element("path", ["class": "line \(line.colour)\(style)", "d": path]))
        }
        return drawn
    }

    /// A coordinate to the tenth of a pixel.
    private static func short(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(abs(tenths % 10))"
    }
}
