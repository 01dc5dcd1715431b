internal import FoundationEssentials

/// Writes texts in header fields, with encoded words (RFC 2047) for what ASCII cannot say.
enum EncodedWords {
    /// The longest line of a text that is written as it is, in bytes, the field's name included.
    private static let maxLineByteCount = 76
    /// The most bytes of one encoded word: 52 characters of base64, so that a line with `Subject: ` has at most 73.
    private static let maxWordByteCount = 39

    /// A text of a field such as `Subject`.
    ///
    /// - Parameter column: The bytes of the line before it.
    static func unstructured(_ text: String, after column: Int) -> String {
        let isPlain = text.utf8.allSatisfy { (0x20..<0x7F).contains($0) } && !text.contains("=?") && text.first != " " && text.last != " "
        return isPlain && column + text.utf8.count <= maxLineByteCount ? text : encoded(text)
    }

    /// A name before an address, with the space after it; empty for an empty name.
    static func phrase(_ name: String, after column: Int) -> String {
        guard !name.isEmpty else { return "" }
        let isPlain = name.utf8.allSatisfy { (0x20..<0x7F).contains($0) && $0 != 0x22 && $0 != 0x5C } && !name.contains("=?")
        guard isPlain, column + name.utf8.count + 3 <= maxLineByteCount else { return encoded(name) + "\r\n " }
        return "\"\(name)\" "
    }

    /// Words of base64, a line each; a character is never divided (RFC 2047 § 5).
    private static func encoded(_ text: String) -> String {
        var words: [[UInt8]] = [[]]
        for scalar in text.unicodeScalars {
            let bytes = Array(Character(scalar).utf8)
            if words[words.count - 1].count + bytes.count > maxWordByteCount { words.append([]) }
            words[words.count - 1] += bytes
        }
        return words.map { "=?UTF-8?B?\(Data($0).base64EncodedString())?=" }.joined(separator: "\r\n ")
    }
}
