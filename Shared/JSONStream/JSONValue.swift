/// A small JSON value, parsed strictly by RFC 8259: names must be unique, and integers are distinguished from other numbers.
public enum JSONValue: Sendable, Equatable {
    case null
    case bool(Bool)
    /// A number without fraction and exponent that fits an `Int`.
    case integer(Int)
    /// Any other number.
    case number(Double)
    case string(String)
    case array([JSONValue])
    /// The members of an object, in their order.
    case object([Member])

    /// A name and its value.
    public struct Member: Sendable, Equatable {
        /// The name.
        public let name: String
        /// The value.
        public let value: JSONValue
    }

    /// The maximum nesting depth.
    public static let maxDepth = 16

    /// Parses a value that is all of the bytes.
    ///
    /// - Throws: `malformed`, or `duplicateName`.
    public init(parsing bytes: [UInt8]) throws(JSONStreamError) {
        var reader = JSONValueReader(bytes)
        self = try reader.readAll()
    }
}

/// Parses one value from complete bytes.
struct JSONValueReader {
    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    mutating func readAll() throws(JSONStreamError) -> JSONValue {
        let value = try readValue(depth: 0)
        skipBlanks()
        guard position == bytes.count else { throw fault("something follows the value") }
        return value
    }

    private mutating func readValue(depth: Int) throws(JSONStreamError) -> JSONValue {
        guard depth <= JSONValue.maxDepth else { throw fault("nesting deeper than \(JSONValue.maxDepth)") }
        skipBlanks()
        switch peek {
        case UInt8(ascii: "{"): return try readObject(depth: depth)
        case UInt8(ascii: "["): return try readArray(depth: depth)
        case UInt8(ascii: "\""): return .string(try readString())
        case UInt8(ascii: "t"): return try read("true", as: .bool(true))
        case UInt8(ascii: "f"): return try read("false", as: .bool(false))
        case UInt8(ascii: "n"): return try read("null", as: .null)
        default: return try readNumber()
        }
    }

    private mutating func readObject(depth: Int) throws(JSONStreamError) -> JSONValue {
        var members: [JSONValue.Member] = []
        var names: Set<String> = []
        position += 1
        skipBlanks()
        if take("}") { return .object([]) }
        repeat {
            skipBlanks()
            guard peek == UInt8(ascii: "\"") else { throw fault("a member without a name") }
            let name = try readString()
            guard names.insert(name).inserted else { throw JSONStreamError(.duplicateName, "an object has a name twice") }
            skipBlanks()
            guard take(":") else { throw fault("no colon behind a name") }
            members.append(JSONValue.Member(name: name, value: try readValue(depth: depth + 1)))
            skipBlanks()
        } while take(",")
        guard take("}") else { throw fault("an object that does not end") }
        return .object(members)
    }

    private mutating func readArray(depth: Int) throws(JSONStreamError) -> JSONValue {
        var values: [JSONValue] = []
        position += 1
        skipBlanks()
        if take("]") { return .array([]) }
        repeat {
            values.append(try readValue(depth: depth + 1))
            skipBlanks()
        } while take(",")
        guard take("]") else { throw fault("an array that does not end") }
        return .array(values)
    }

    private mutating func readString() throws(JSONStreamError) -> String {
        position += 1
        let start = position
        while let byte = peek, byte != UInt8(ascii: "\"") { position += byte == UInt8(ascii: "\\") ? 2 : 1 }
        guard position < bytes.count else { throw fault("a text that does not end") }
        defer { position += 1 }
        return try JSONText.unescape(bytes[start..<position])
    }

    private mutating func readNumber() throws(JSONStreamError) -> JSONValue {
        let start = position
        _ = take("-")
        guard takeDigits(leadingZero: false) else { throw fault("what is no value") }
        var isWhole = true
        if take(".") {
            isWhole = false
            guard takeDigits(leadingZero: true) else { throw fault("a fraction without digits") }
        }
        if take("e") || take("E") {
            isWhole = false
            if !take("+") { _ = take("-") }
            guard takeDigits(leadingZero: true) else { throw fault("an exponent without digits") }
        }
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        if isWhole, let number = Int(text) { return .integer(number) }
        guard let number = Double(text), number.isFinite else { throw fault("a number that is too big") }
        return .number(number)
    }

    private mutating func takeDigits(leadingZero: Bool) -> Bool {
        let start = position
        while let byte = peek, UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte { position += 1 }
        return position > start && (leadingZero || bytes[start] != UInt8(ascii: "0") || position == start + 1)
    }

    private mutating func read(_ word: StaticString, as value: JSONValue) throws(JSONStreamError) -> JSONValue {
        let expected = word.withUTF8Buffer { Array($0) }
        guard bytes[position...].starts(with: expected) else { throw fault("what is no value") }
        position += expected.count
        return value
    }

    private var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard peek == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    private mutating func skipBlanks() {
        while let byte = peek, JSONText.isBlank(byte) { position += 1 }
    }

    private func fault(_ what: String) -> JSONStreamError {
        JSONStreamError(.malformed, "\(what), at byte \(position) of a value")
    }
}
