/// The rules of texts that one person writes and another one reads, such as names.
extension Unicode.Scalar {
    /// Whether it has no visible glyph.
    package var showsNothing: Bool {
        properties.isWhitespace || properties.isDefaultIgnorableCodePoint || self == Self.blankBraille
            || [.control, .format, .unassigned, .surrogate].contains(properties.generalCategory)
    }

    /// Whether it would change the display of the text around it: a control character, a line break, or a mark of the direction of writing;
    /// or has no meaning that all devices share.
    package var isUnsafe: Bool {
        switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: true
        case .format: properties.isBidiControl
        default: false
        }
    }

    /// U+2800, a letter without a dot; fillers of Hangul are ignorable by Unicode.
    private static let blankBraille: Unicode.Scalar = "\u{2800}"
}
