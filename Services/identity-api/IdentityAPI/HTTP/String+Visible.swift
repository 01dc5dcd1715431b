internal import Accounts

extension String {
    /// The text without the white space and the invisible characters around it.
    var trimmed: String { String(drop(while: \.showsNothing).reversed().drop(while: \.showsNothing).reversed()) }

    /// Whether it has no visible character: only white space, control and format characters, and letters without a glyph.
    var showsNothing: Bool { unicodeScalars.allSatisfy(\.showsNothing) }

    /// Whether it is empty, or a text that programs print for a missing value, such as `null`. Many senders send the same text, so it
    /// cannot identify a sender or a request.
    var isPlaceholder: Bool { Self.placeholders.contains(trimmed.lowercased()) }

    private static let placeholders: Set<String> = [
        "", "null", "(null)", "<null>", "nil", "none", "undefined", "00000000-0000-0000-0000-000000000000",
    ]
}

extension Character {
    fileprivate var showsNothing: Bool { unicodeScalars.allSatisfy(\.showsNothing) }
}
