extension String {
    /// The text without the white space around it.
    var trimmed: String { String(drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed()) }

    /// Whether a person sees nothing of it: it has only white space, control and format characters, and letters that are drawn as nothing.
    var showsNothing: Bool {
        unicodeScalars.allSatisfy { scalar in
            scalar.properties.isWhitespace || scalar.properties.isDefaultIgnorableCodePoint || scalar == Self.blankBraille
                || [.control, .format, .unassigned, .surrogate].contains(scalar.properties.generalCategory)
        }
    }

    /// U+2800, a letter without a dot; fillers of Hangul are ignorable by Unicode.
    private static let blankBraille: Unicode.Scalar = "\u{2800}"
}
