/// How much a piece of text shall be noticed.
enum Emphasis: Sendable {
    case none
    /// Less than the rest: headings, and what is as it should be.
    case faint
    /// Somebody should look at it some time.
    case warning
    /// Somebody should look at it now.
    case alarm
}

/// Whether, and how, text is coloured.
struct TextStyle: Sendable {
    /// No colours: for files, pipes, and who does not want any.
    static let plain = TextStyle(hasColour: false)

    let hasColour: Bool

    init(hasColour: Bool) {
        self.hasColour = hasColour
    }

    /// Colours on a terminal that knows them, unless `NO_COLOR` is set (no-color.org).
    init(isTerminal: Bool, environment: [String: String]) {
        hasColour = isTerminal && (environment["NO_COLOR"] ?? "").isEmpty && environment["TERM"] != "dumb"
    }

    /// The text with what makes a terminal show it so.
    func apply(_ emphasis: Emphasis, to text: String) -> String {
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
    /// The text without control characters, with which a message could take over the terminal of who looks at it.
    ///
    /// Line breaks and tabs become a space, so that it stays one line.
    var printable: String {
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
