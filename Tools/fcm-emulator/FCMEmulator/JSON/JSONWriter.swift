extension JSONValue {
    /// The value as JSON text, on one line.
    public func serialized() -> String {
        var text = ""
        write(to: &text, indentation: nil)
        return text
    }

    /// The value as JSON text, indented by two spaces a level and ended by a newline, as Google's APIs answer.
    func prettyPrinted() -> String {
        var text = ""
        write(to: &text, indentation: 0)
        return text + "\n"
    }

    private func write(to text: inout String, indentation: Int?) {
        switch self {
        case .null: text += "null"
        case .bool(let value): text += value ? "true" : "false"
        case .number(let spelling): text += spelling
        case .string(let value): Self.write(quoted: value, to: &text)
        case .array(let elements):
            Self.write(open: "[", close: "]", elements, to: &text, indentation: indentation) { element, text, level in
                element.write(to: &text, indentation: level)
            }
        case .object(let object):
            Self.write(open: "{", close: "}", object.members, to: &text, indentation: indentation) { member, text, level in
                Self.write(quoted: member.name, to: &text)
                text += level == nil ? ":" : ": "
                member.value.write(to: &text, indentation: level)
            }
        }
    }

    private static func write<Element>(
        open: String, close: String, _ elements: [Element], to text: inout String, indentation: Int?,
        element write: (Element, inout String, Int?) -> Void
    ) {
        text += open
        let inner = indentation.map { $0 + 2 }
        for (index, element) in elements.enumerated() {
            if index > 0 { text += "," }
            newline(inner, in: &text)
            write(element, &text, inner)
        }
        if !elements.isEmpty { newline(indentation, in: &text) }
        text += close
    }

    private static func newline(_ indentation: Int?, in text: inout String) {
        guard let indentation else { return }
        text += "\n" + String(repeating: " ", count: indentation)
    }

    private static func write(quoted value: String, to text: inout String) {
        text += "\""
        // Text without characters to escape is copied whole: a picture in base64 is megabytes of it.
        if value.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x80 && $0 != 0x22 && $0 != 0x5C && $0 != 0x3C }) {
            text += value + "\""
            return
        }
        for scalar in value.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            // "</script>" inside a page and line separators inside a script must stay harmless.
            case "<", "\u{2028}", "\u{2029}", "\0"..<" ": text += Self.escape(scalar)
            default: text.unicodeScalars.append(scalar)
            }
        }
        text += "\""
    }

    private static func escape(_ scalar: Unicode.Scalar) -> String {
        let digits = String(scalar.value, radix: 16)
        return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    }
}
