/// Writes JSON byte by byte: the few forms that a push consists of, with the members of an object in alphabetical order.
enum JSONText {
    /// Appends a string with its quotes, with only the escapes that RFC 8259 requires.
    static func append(_ text: String, to json: inout [UInt8]) {
        var text = text
        json.append(UInt8(ascii: "\""))
        text.withUTF8 { bytes in
            // Nearly all strings need no escape: ids, tokens and most texts.
            if bytes.allSatisfy({ $0 >= 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }) {
                json.append(contentsOf: bytes)
            } else {
                for byte in bytes { append(escaping: byte, to: &json) }
            }
        }
        json.append(UInt8(ascii: "\""))
    }

    private static func append(escaping byte: UInt8, to json: inout [UInt8]) {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): json += [UInt8(ascii: "\\"), byte]
        case 0x08: json += "\\b".utf8
        case 0x09: json += "\\t".utf8
        case 0x0A: json += "\\n".utf8
        case 0x0C: json += "\\f".utf8
        case 0x0D: json += "\\r".utf8
        case 0..<0x20:
            let digits = String(byte, radix: 16)
            json += "\\u00\(digits.utf8.count == 1 ? "0" : "")\(digits)".utf8
        default: json.append(byte)
        }
    }

    /// Returns a string with its quotes.
    static func string(_ text: String) -> [UInt8] {
        var json: [UInt8] = []
        json.reserveCapacity(text.utf8.count + 2)
        append(text, to: &json)
        return json
    }

    /// Returns the members of an object without its braces; those whose value is nil are left out.
    static func members(_ members: [(name: String, value: [UInt8]?)]) -> [UInt8] {
        var json: [UInt8] = []
        for (name, value) in members {
            guard let value else { continue }
            if !json.isEmpty { json.append(UInt8(ascii: ",")) }
            append(name, to: &json)
            json.append(UInt8(ascii: ":"))
            json += value
        }
        return json
    }

    /// Returns an object.
    static func object(_ members: [(name: String, value: [UInt8]?)]) -> [UInt8] {
        [UInt8(ascii: "{")] + Self.members(members) + [UInt8(ascii: "}")]
    }

    /// Returns an object of strings.
    static func object(_ strings: [String: String]) -> [UInt8] {
        object(strings.sorted { $0.key < $1.key }.map { ($0.key, string($0.value)) })
    }
}
