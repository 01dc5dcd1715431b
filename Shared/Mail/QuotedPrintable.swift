/// The encoding of texts that are mostly ASCII (RFC 2045 § 6.7).
enum QuotedPrintable {
    /// The longest line, in bytes, without its CRLF.
    private static let maxLineByteCount = 76
    private static let digits = Array("0123456789ABCDEF".utf8)

    /// Encodes a text whose lines end with `\n`; a missing line end is added to the last line.
    static func encode(_ text: String) -> [UInt8] {
        var lines = text.utf8.split(separator: 0x0A, omittingEmptySubsequences: false)
        if lines.last?.isEmpty ?? false { lines.removeLast() }
        var output: [UInt8] = []
        output.reserveCapacity(text.utf8.count + text.utf8.count / 8)
        for line in lines {
            append(line, to: &output)
            output += [0x0D, 0x0A]
        }
        return output
    }

    private static func append(_ line: Substring.UTF8View, to output: inout [UInt8]) {
        var column = 0
        for index in line.indices {
            let byte = line[index]
            let isLast = line.index(after: index) == line.endIndex
            let isBlank = byte == 0x20 || byte == 0x09
            // Mail servers remove blanks at the ends of lines.
            let isPlain = isBlank ? !isLast : (0x21..<0x7F).contains(byte) && byte != 0x3D
            let width = isPlain ? 1 : 3
            // A byte stays free for the `=` that continues a line.
            if column + width > maxLineByteCount - (isLast ? 0 : 1) {
                output += [0x3D, 0x0D, 0x0A]
                column = 0
            }
            output += isPlain ? [byte] : [0x3D, digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            column += width
        }
    }
}
