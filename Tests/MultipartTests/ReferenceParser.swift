import Multipart

/// A simple parser of complete bodies, the reference for the streaming one.
///
/// It shares only the parsing of a header block with the streaming parser.
enum ReferenceParser {
    /// The data of each part, or nil for a malformed body.
    static func parse(_ body: [UInt8], boundary: String) -> [[UInt8]]? {
        // Every boundary is preceded by a line end, if one is added before the body, and the end of a header
        // block counts as one too.
        let delimiter = Array("\r\n--\(boundary)".utf8)
        let text = [13, 10] + body
        guard var position = index(of: delimiter, in: text, from: 0) else { return nil }
        position += delimiter.count
        var parts: [[UInt8]] = []
        while true {
            if text[position...].starts(with: "--".utf8) { return parts }
            while position < text.count, text[position] == 0x20 || text[position] == 0x09 { position += 1 }
            guard text[position...].starts(with: [13, 10]) else { return nil }
            position += 2
            guard let blank = index(of: [13, 10, 13, 10], in: text, from: position) else { return nil }
            guard isDisposition(Array(text[position..<blank])) else { return nil }
            position = blank + 4
            guard let end = index(of: delimiter, in: text, from: position - 2) else { return nil }
            parts.append(end < position ? [] : Array(text[position..<end]))
            position = end + delimiter.count
        }
    }

    private static func isDisposition(_ block: [UInt8]) -> Bool {
        block == Array("Content-Disposition: form-data; name=\"f\"".utf8)
    }

    private static func index(of needle: [UInt8], in text: [UInt8], from start: Int) -> Int? {
        guard text.count >= needle.count, start <= text.count - needle.count else { return nil }
        return (start...(text.count - needle.count)).first { text[$0...].starts(with: needle) }
    }
}
