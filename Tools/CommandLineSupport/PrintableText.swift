/// Text that may be written to the operator's terminal.
///
/// Values that are interpolated, and strings that it is made of, lose their control characters (`String.printable`): an unescaped text of
/// a user cannot become output, because the console takes this type only. Literals of the program, tables and styles keep theirs.
package struct PrintableText: Sendable, Hashable, CustomStringConvertible {
    /// The text as it is written.
    package let text: String

    package var description: String { text }

    /// Makes one line of any text.
    package init(_ text: some StringProtocol) { self.text = String(text).printable }

    /// Text that has passed through this module: a table, a style, escaped JSON.
    init(escaped text: String) { self.text = text }

    /// Makes a line for each line of a text.
    package static func lines(of text: some StringProtocol) -> [PrintableText] {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { PrintableText($0) }
    }

    /// Breaks a text between its words into lines of at most `width` characters; a longer word has a line of its own.
    package static func wrapped(_ text: String, width: Int?) -> [PrintableText] {
        guard let width else { return [PrintableText(text)] }
        var lines: [String] = []
        for word in text.split(separator: " ") {
            if let last = lines.last, last.count + 1 + word.count <= width {
                lines[lines.count - 1] += " " + word
            } else {
                lines.append(String(word))
            }
        }
        return lines.map { PrintableText($0) }
    }

    package static func + (left: PrintableText, right: PrintableText) -> PrintableText {
        PrintableText(escaped: left.text + right.text)
    }
}

extension PrintableText: ExpressibleByStringInterpolation {
    /// Joins literals of the program and printable values.
    package struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var text = ""

        package init(literalCapacity: Int, interpolationCount: Int) { text.reserveCapacity(literalCapacity) }

        package mutating func appendLiteral(_ literal: String) { text += literal }

        package mutating func appendInterpolation(_ value: PrintableText) { text += value.text }

        package mutating func appendInterpolation(_ value: some Any) { text += "\(value)".printable }
    }

    package init(stringLiteral literal: String) { text = literal }

    package init(stringInterpolation: StringInterpolation) { text = stringInterpolation.text }
}

extension [PrintableText] {
    /// Joins texts with a separator of the program.
    package func joined(separator: PrintableText) -> PrintableText {
        PrintableText(escaped: map(\.text).joined(separator: separator.text))
    }
}

extension String {
    /// The text without control characters, because a message could take over the operator's terminal with them, and without characters
    /// that reverse the direction of writing.
    ///
    /// Line breaks and tabs become spaces, so that the text stays on one line.
    package var printable: String {
        String(
            unicodeScalars.map { scalar -> Character in
                switch scalar.value {
                case 0x09, 0x0A, 0x0D: " "
                case ..<0x20: "\u{FFFD}"
                default: scalar.isTerminalControl ? "\u{FFFD}" : Character(scalar)
                }
            })
    }
}

extension Unicode.Scalar {
    /// Whether a terminal obeys it although JSON allows it in a text: DEL, C1, line separators, and marks of the direction of writing.
    var isTerminalControl: Bool {
        switch value {
        case 0x7F..<0xA0, 0x061C, 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}
