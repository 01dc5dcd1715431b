internal import Accounts
internal import ArgumentParser

/// A text of an operator that other people read; it follows the rule of display names in the API.
enum ShownText {
    /// Checks an option whose value is stored: its length in characters of Unicode, which the database checks as well, and that people can
    /// see it.
    ///
    /// - Parameter lineBreaks: Whether it may have several lines, and tabs.
    static func check(_ option: String, _ text: String?, _ length: ClosedRange<Int>, lineBreaks: Bool = false) throws {
        guard let text else { return }
        guard length ~= text.unicodeScalars.count else {
            throw ValidationError("\(option) has \(length.lowerBound) to \(length.upperBound) characters.")
        }
        guard !text.unicodeScalars.contains(where: { $0.isUnsafe && !(lineBreaks && "\n\r\t".unicodeScalars.contains($0)) }) else {
            let lines = lineBreaks ? "" : ", and is one line"
            throw ValidationError("\(option) has no control characters and no marks of the direction of writing\(lines).")
        }
        guard text.isEmpty || !text.unicodeScalars.allSatisfy(\.showsNothing) else {
            throw ValidationError("\(option) shows nothing: it has only white space and invisible characters.")
        }
    }
}
