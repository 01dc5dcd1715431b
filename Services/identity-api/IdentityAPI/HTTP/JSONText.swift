/// A JSON value that is encoded with its keys in the given order, so that responses are exact to the byte.
enum JSONText: Sendable, ExpressibleByStringLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral {
    case null
    case bool(Bool)
    case integer(Int)
    case string(String)
    case object([(key: String, value: JSONText)])
    case array([JSONText])

    init(stringLiteral value: String) { self = .string(value) }
    init(booleanLiteral value: Bool) { self = .bool(value) }
    init(integerLiteral value: Int) { self = .integer(value) }

    /// An object of the members that have a value.
    static func members(_ members: (String, JSONText?)...) -> JSONText {
        .object(members.compactMap { name, value in value.map { (key: name, value: $0) } })
    }

    /// The text, without any white space.
    var text: String {
        switch self {
        case .null: "null"
        case .bool(let value): value ? "true" : "false"
        case .integer(let value): "\(value)"
        case .string(let value): Self.quoted(value)
        case .object(let members):
            "{" + members.map { "\(Self.quoted($0.key)):\($0.value.text)" }.joined(separator: ",") + "}"
        case .array(let values): "[" + values.map(\.text).joined(separator: ",") + "]"
        }
    }

    private static func quoted(_ value: String) -> String {
        var text = "\""
        for scalar in value.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            case let control where control.value < 0x20:
                let digits = String(control.value, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text + "\""
    }
}
