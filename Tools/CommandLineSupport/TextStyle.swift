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
    package func apply(_ emphasis: Emphasis, to text: PrintableText) -> PrintableText {
        guard hasColour else { return text }
        switch emphasis {
        case .none: return text
        case .faint: return "\u{1B}[2m\(text)\u{1B}[0m"
        case .warning: return "\u{1B}[33m\(text)\u{1B}[0m"
        case .alarm: return "\u{1B}[1;31m\(text)\u{1B}[0m"
        }
    }
}
