/// Rows of text in aligned columns, used for all lists.
package struct Table {
    /// A column: its heading and its alignment.
    package struct Column: ExpressibleByStringLiteral {
        package enum Alignment: Sendable { case left, right }

        let title: String
        let alignment: Alignment
        /// Rank at which the column is omitted when the table is too wide, the highest first; nil keeps the column.
        let omissionRank: Int?

        package init(_ title: String, _ alignment: Alignment = .left, omissionRank: Int? = nil) {
            self.title = title
            self.alignment = alignment
            self.omissionRank = omissionRank
        }

        /// A column of text, which always stays.
        package init(stringLiteral title: String) { self.init(title) }

        /// A column of numbers.
        package static func right(_ title: String, omissionRank: Int? = nil) -> Column {
            Column(title, .right, omissionRank: omissionRank)
        }
    }

    /// A cell: one line of text.
    package struct Cell: Sendable {
        /// The printable text; a string, because it is measured and cut by characters.
        let text: String
        let emphasis: Emphasis

        package init(_ text: String, _ emphasis: Emphasis = .none) {
            self.text = text.printable
            self.emphasis = emphasis
        }

        /// The cell of a missing value.
        package static let nothing = Cell(HumanUnits.nothing, .faint)

        /// A number that has `emphasis` unless it is 0.
        package static func count(_ number: Int, _ emphasis: Emphasis = .none) -> Cell {
            Cell("\(number)", number == 0 ? .faint : emphasis)
        }
    }

    private static let gap = "  "

    private let columns: [Column]
    private var rows: [[Cell]] = []

    package init(_ columns: [Column]) { self.columns = columns }

    /// Adds a row with a cell for each column.
    package mutating func add(_ row: [Cell]) {
        precondition(row.count == columns.count, "a row has a cell for each column")
        rows.append(row)
    }

    /// The heading and the rows as lines, without trailing blanks.
    ///
    /// - Parameter width: The maximum width: optional columns are omitted until the lines fit, then cells are cut off.
    package func lines(_ style: TextStyle, width: Int? = nil) -> [PrintableText] {
        let widths = columns.indices.map { index in
            max(columns[index].title.count, rows.map { $0[index].text.count }.max() ?? 0)
        }
        let shown = shownColumns(widths, within: width)
        let heading = columns.map { Cell($0.title, .faint) }
        return ([heading] + rows).map { row in
            var line: PrintableText = ""
            var used = 0
            for (position, index) in shown.enumerated() {
                let cell = row[index]
                let blanks = String(repeating: " ", count: widths[index] - cell.text.count)
                let isLast = position == shown.count - 1
                let lead = (position == 0 ? "" : Self.gap) + (columns[index].alignment == .right ? blanks : "")
                let trail = columns[index].alignment == .left && !isLast ? blanks : ""
                let room = max(0, (width ?? .max) - used - lead.count)
                line = "\(line)\(lead)\(style.apply(cell.emphasis, to: PrintableText(cell.text.prefix(room))))\(trail)"
                used += lead.count + min(cell.text.count, room) + trail.count
            }
            return line
        }
    }

    private func shownColumns(_ widths: [Int], within width: Int?) -> [Int] {
        var shown = Array(columns.indices)
        func total() -> Int { shown.map { widths[$0] }.reduce(0, +) + Self.gap.count * (shown.count - 1) }
        while let width, total() > width {
            let candidates = shown.filter { columns[$0].omissionRank != nil }
            guard let next = candidates.max(by: { columns[$0].omissionRank ?? 0 < columns[$1].omissionRank ?? 0 }) else { break }
            shown.removeAll { $0 == next }
        }
        return shown
    }
}
