/// The emphasis of a piece of text.
package enum Emphasis: Sendable {
    case none
    /// Less than normal: headings and expected values.
    case faint
    /// Needs attention at some time.
    case warning
    /// Needs attention now.
    case alarm
}

/// Colours text for a terminal.
package struct TextStyle: Sendable {
    /// No colours: for files, pipes and `NO_COLOR`.
    package static let plain = TextStyle(hasColour: false)

    package let hasColour: Bool

    package init(hasColour: Bool) {
        self.hasColour = hasColour
    }

    /// Uses colours on a terminal that supports them, unless `NO_COLOR` is set (no-color.org).
    package init(isTerminal: Bool, environment: [String: String]) {
        hasColour = isTerminal && (environment["NO_COLOR"] ?? "").isEmpty && environment["TERM"] != "dumb"
    }

    /// The text with the escape sequences of an emphasis.
    package func apply(_ emphasis: Emphasis, to text: String) -> String {
        guard hasColour else { return text }
        switch emphasis {
        case .none: return text
        case .faint: return "\u{1B}[2m\(text)\u{1B}[0m"
        case .warning: return "\u{1B}[33m\(text)\u{1B}[0m"
        case .alarm: return "\u{1B}[1;31m\(text)\u{1B}[0m"
        }
    }
}

extension String {
    /// The text without control characters, with which a message could take over the operator's terminal.
    ///
    /// Line breaks and tabs become spaces, so that the text stays on one line.
    package var printable: String {
        String(
            unicodeScalars.map { scalar -> Character in
                switch scalar.value {
                case 0x09, 0x0A, 0x0D: " "
                case ..<0x20, 0x7F..<0xA0, 0x202A...0x202E, 0x2066...0x2069: "\u{FFFD}"
                default: Character(scalar)
                }
            })
    }
}
