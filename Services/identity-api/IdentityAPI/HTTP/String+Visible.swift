internal import Storage

extension String {
    /// The text without the white space and the invisible characters around it.
    var trimmed: String { String(drop(while: \.showsNothing).reversed().drop(while: \.showsNothing).reversed()) }

    /// Whether a person sees nothing of it: it has only white space, control and format characters, and letters that are drawn as nothing.
    var showsNothing: Bool { unicodeScalars.allSatisfy(\.showsNothing) }

    /// Whether it is what a program prints for a value that it does not have, or nothing at all. Many senders share it, so that it never
    /// names one of them, or one of their requests.
    var isPlaceholder: Bool { Self.placeholders.contains(trimmed.lowercased()) }

    private static let placeholders: Set<String> = [
        "", "null", "(null)", "<null>", "nil", "none", "undefined", "00000000-0000-0000-0000-000000000000",
    ]
}

extension Character {
    fileprivate var showsNothing: Bool { unicodeScalars.allSatisfy(\.showsNothing) }
}
