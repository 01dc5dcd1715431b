internal import Foundation

/// The output of the command: results to standard output, progress and notes to standard error.
struct SimConsole: Sendable {
    /// Whether progress may be redrawn.
    let isTerminal: Bool
    /// Whether results may have colours.
    let hasColour: Bool

    static var standard: SimConsole {
        let environment = ProcessInfo.processInfo.environment
        let isDumb = (environment["TERM"] ?? "dumb") == "dumb"
        let hasColour = isatty(STDOUT_FILENO) == 1 && (environment["NO_COLOR"] ?? "").isEmpty && !isDumb
        return SimConsole(isTerminal: isatty(STDERR_FILENO) == 1 && !isDumb, hasColour: hasColour)
    }

    func result(_ line: String = "") { Self.write(line + "\n", to: .standardOutput) }

    func note(_ line: String) { Self.write((isTerminal ? "\r\u{1B}[K" : "") + line + "\n", to: .standardError) }

    /// Shows a line that the next one overwrites.
    func progress(_ line: String) {
        if isTerminal {
            // The line is not wrapped, because a wrapped one would not be overwritten whole.
            Self.write("\r\u{1B}[?7l\(line)\u{1B}[K\u{1B}[?7h", to: .standardError)
        } else if !line.isEmpty {
            Self.write(line + "\n", to: .standardError)
        }
    }

    func bold(_ text: String) -> String { hasColour ? "\u{1B}[1m\(text)\u{1B}[0m" : text }
    func dim(_ text: String) -> String { hasColour ? "\u{1B}[2m\(text)\u{1B}[0m" : text }
    func green(_ text: String) -> String { hasColour ? "\u{1B}[32m\(text)\u{1B}[0m" : text }
    func red(_ text: String) -> String { hasColour ? "\u{1B}[31m\(text)\u{1B}[0m" : text }

    /// `1:05`, `2:00:00`.
    static func clock(_ seconds: Double) -> String {
        let seconds = max(0, Int(seconds.rounded()))
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let hours = seconds / 3_600
        let minutes = hours > 0 ? two(seconds / 60 % 60) : "\(seconds / 60)"
        return (hours > 0 ? "\(hours):" : "") + "\(minutes):\(two(seconds % 60))"
    }

    private static func write(_ text: String, to stream: FileHandle) {
        // A closed pipe (`| head`) is not an error.
        try? stream.write(contentsOf: Data(text.utf8))
    }
}
