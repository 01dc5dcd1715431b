import FoundationEssentials

/// Reads a mail of one part (RFC 5322, RFC 2045) as leniently as mail programs do; several parts are shown as they are.
struct MailReader {
    /// The header fields in their order, unfolded, encoded words decoded.
    let fields: [(name: String, value: String)]
    /// The text, decoded, with `\n` as line end.
    let text: String

    init(_ content: [UInt8]) {
        let bytes = content.filter { $0 != 0x0D }
        let end = bytes.indices.first { bytes[$0] == 0x0A && ($0 == 0 || bytes[$0 - 1] == 0x0A) } ?? bytes.endIndex
        fields = Self.fields(String(decoding: bytes[..<end], as: UTF8.self))
        let body = Array(bytes[min(end + 1, bytes.endIndex)...])
        let encoding = fields.first { $0.name.lowercased() == "content-transfer-encoding" }?.value.lowercased()
        text = Self.text(body, encoding ?? "7bit")
    }

    private static func fields(_ head: String) -> [(name: String, value: String)] {
        var lines: [String] = []
        for line in head.split(separator: "\n") {
            if let first = line.first, first == " " || first == "\t", !lines.isEmpty {
                lines[lines.count - 1] += line
            } else {
                lines.append(String(line))
            }
        }
        return lines.compactMap { line in
            guard let colon = line.firstIndex(of: ":") else { return nil }
            let value = line[line.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
            return (String(line[..<colon]), words(String(value)))
        }
    }

    /// Decodes the encoded words of a field (RFC 2047); blanks between two of them are not part of the text.
    private static func words(_ value: String) -> String {
        let word = /=\?([^?\s]+)\?([bBqQ])\?([^?\s]*)\?=/
        let joined = value.replacing(/(=\?[^?\s]+\?[bBqQ]\?[^?\s]*\?=)\s+(?==\?)/) { "\($0.output.1)" }
        return joined.replacing(word) { match in
            let text = String(match.output.3)
            guard match.output.2.lowercased() == "q" else {
                return Data(base64Encoded: text).map { string([UInt8]($0)) } ?? String(match.output.0)
            }
            return string(quotedPrintable(Array(text.replacing("_", with: " ").utf8)))
        }
    }

    private static func text(_ body: [UInt8], _ encoding: String) -> String {
        switch encoding {
        case "quoted-printable": return string(quotedPrintable(body))
        case "base64":
            let characters = Data(body.filter { $0 > 0x20 })
            return Data(base64Encoded: characters).map { string($0.filter { $0 != 0x0D }) } ?? string(body)
        default: return string(body)
        }
    }

    private static func string(_ bytes: some Sequence<UInt8>) -> String { String(decoding: Array(bytes), as: UTF8.self) }

    private static func quotedPrintable(_ bytes: [UInt8]) -> [UInt8] {
        var output: [UInt8] = []
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            index += 1
            guard byte == 0x3D, index < bytes.count else {
                output.append(byte)
                continue
            }
            if bytes[index] == 0x0A {
                index += 1
            } else if index + 1 < bytes.count, let value = hexadecimal(bytes[index]), let low = hexadecimal(bytes[index + 1]) {
                output.append(value << 4 | low)
                index += 2
            } else {
                output.append(byte)
            }
        }
        return output
    }

    private static func hexadecimal(_ byte: UInt8) -> UInt8? {
        Character(Unicode.Scalar(byte)).hexDigitValue.map { UInt8($0) }
    }
}
