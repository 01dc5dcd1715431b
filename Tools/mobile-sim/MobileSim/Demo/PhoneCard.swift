internal import Foundation

/// A push as a phone's lock screen shows it, for a terminal.
struct PhoneCard {
    private static let width = 56

    let title: String
    let body: String
    /// `09:41:07`.
    let time: String
    let milliseconds: Int

    func lines(_ console: SimConsole) -> [String] {
        guard console.hasColour else { return ["    [Heliograph, \(time)] \(title): \(body) (\(milliseconds) ms)", ""] }
        let edge = Self.colour("38;2;120;128;150"), sky = Self.colour("48;2;38;48;92"), off = Self.colour("0")
        let card = Self.colour("48;2;226;230;240") + Self.colour("38;2;24;27;36"), ink = Self.colour("38;2;24;27;36")
        let icon = Self.colour("48;2;240;112;26") + Self.colour("38;2;255;255;255"), soft = Self.colour("38;2;104;110;126")
        let bar = String(repeating: "─", count: Self.width + 4)
        func row(_ text: String) -> String { "    \(edge)│\(sky)  \(card)\(text)\(off)\(sky)  \(off)\(edge)│\(off)" }
        let blank = "    \(edge)│\(sky)\(String(repeating: " ", count: Self.width + 4))\(off)\(edge)│\(off)"
        let clock = Self.leading(String(time.prefix(5)), 32)
        var lines = ["    \(edge)╭\(bar)╮\(off)"]
        lines.append(
            "    \(edge)│\(sky)\u{1B}[1;38;2;255;255;255m\(Self.trailing(clock, Self.width + 4))\(off)\(edge)│\(off)")
        lines.append(blank)
        let name = Self.trailing("Heliograph", Self.width - 16) + Self.leading("\(milliseconds) ms", 10)
        lines.append(row(" \(icon) ☀ \(off)\(card)\(soft) \(name) "))
        lines.append(row("     \(ink)\u{1B}[1m\(Self.trailing(title, Self.width - 5))\u{1B}[22m"))
        lines += Self.wrapped(body, Self.width - 7).map { row("     \(ink)\(Self.trailing($0, Self.width - 5))") }
        return lines + [blank, "    \(edge)╰\(bar)╯\(off)", ""]
    }

    private static func colour(_ code: String) -> String { "\u{1B}[\(code)m" }

    /// The columns that a text takes: pictures take two.
    static func columns(_ text: String) -> Int {
        text.reduce(0) { $0 + ($1.unicodeScalars.contains { $0.value >= 0x1F300 } ? 2 : 1) }
    }

    private static func trailing(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - columns(text)))
    }

    private static func leading(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(0, width - columns(text))) + text
    }

    /// The lines of a text, broken at spaces.
    static func wrapped(_ text: String, _ width: Int) -> [String] {
        var lines: [String] = []
        for word in text.split(separator: " ") {
            if let last = lines.last, columns(last) + 1 + columns(String(word)) <= width {
                lines[lines.count - 1] = last + " " + word
            } else {
                lines.append(String(word))
            }
        }
        return lines.isEmpty ? [""] : lines
    }
}
