/// A syntax error in a JSON text.
struct JSONSyntaxError: Error, Equatable {
    /// The error, in the words of Google's front end.
    let reason: String
    /// The position of the error, in bytes from the start.
    let offset: Int
}

/// A strict JSON parser (RFC 8259) with a limit on nesting, for texts that fit in memory.
struct JSONParser {
    /// Maximum nesting depth of arrays and objects, the limit of Google's parser of protocol buffers.
    static let maximumDepth = 100

    private let bytes: [UInt8]
    private var position = 0
    /// Whether the value being parsed is the member `message` of the outermost object.
    private var isInMessage = false
    /// The positions of the values of `message.token` and `message.fid`, between their quotes.
    private var registrations: [Range<Int>] = []

    private init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Parses one value, with nothing but white space around it.
    static func parse(_ bytes: [UInt8]) throws(JSONSyntaxError) -> JSONValue {
        try parseRequest(bytes).value
    }

    /// Parses one value, and returns the position in the bytes at which a request of `messages:send` names its registration.
    ///
    /// The position is nil when there is none, or when there are several, of which only one counts.
    static func parseRequest(_ bytes: [UInt8]) throws(JSONSyntaxError) -> (value: JSONValue, registration: Range<Int>?) {
        guard String(validating: bytes, as: UTF8.self) != nil else {
            throw JSONSyntaxError(reason: "Invalid UTF-8.", offset: 0)
        }
        var parser = JSONParser(bytes)
        parser.skipSpace()
        let value = try parser.value(depth: 0)
        parser.skipSpace()
        guard parser.position == bytes.count else { throw parser.error("Parsing terminated before end of input.") }
        return (value, parser.registrations.count == 1 ? parser.registrations[0] : nil)
    }

    private func error(_ reason: String) -> JSONSyntaxError { JSONSyntaxError(reason: reason, offset: position) }

    private var current: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func skipSpace() {
        while let byte = current, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard current == byte else { return false }
        position += 1
        return true
    }

    private mutating func value(depth: Int) throws(JSONSyntaxError) -> JSONValue {
        guard depth < Self.maximumDepth else { throw error("Message too deep.") }
        guard let byte = current else { throw error("Unexpected end of string.") }
        switch byte {
        case UInt8(ascii: "{"): return try object(depth: depth)
        case UInt8(ascii: "["): return try array(depth: depth)
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try literal("true", .bool(true))
        case UInt8(ascii: "f"): return try literal("false", .bool(false))
        case UInt8(ascii: "n"): return try literal("null", .null)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
        default: throw error("Expected a value.")
        }
    }

    private mutating func literal(_ text: String, _ value: JSONValue) throws(JSONSyntaxError) -> JSONValue {
        let utf8 = Array(text.utf8)
        guard bytes[position...].starts(with: utf8) else { throw error("Unexpected token.") }
        position += utf8.count
        return value
    }

    private mutating func object(depth: Int) throws(JSONSyntaxError) -> JSONValue {
        position += 1
        var object = JSONObject()
        skipSpace()
        if take(UInt8(ascii: "}")) { return .object(object) }
        while true {
            skipSpace()
            guard current == UInt8(ascii: "\"") else { throw error("Expected an object key or }.") }
            let name = try string()
            skipSpace()
            guard take(UInt8(ascii: ":")) else { throw error("Expected : between key:value pair.") }
            skipSpace()
            if depth == 0 { isInMessage = name == "message" }
            let start = position + 1
            let member = try value(depth: depth + 1)
            if depth == 1, isInMessage, name == "token" || name == "fid", member.string != nil {
                registrations.append(start..<position - 1)
            }
            object[name] = member
            skipSpace()
            if take(UInt8(ascii: "}")) { return .object(object) }
            guard take(UInt8(ascii: ",")) else { throw error("Expected , or } after key:value pair.") }
        }
    }

    private mutating func array(depth: Int) throws(JSONSyntaxError) -> JSONValue {
        position += 1
        var elements: [JSONValue] = []
        skipSpace()
        if take(UInt8(ascii: "]")) { return .array(elements) }
        while true {
            skipSpace()
            elements.append(try value(depth: depth + 1))
            skipSpace()
            if take(UInt8(ascii: "]")) { return .array(elements) }
            guard take(UInt8(ascii: ",")) else { throw error("Expected , or ] after array value.") }
        }
    }

    private mutating func number() throws(JSONSyntaxError) -> JSONValue {
        let start = position
        _ = take(UInt8(ascii: "-"))
        if !take(UInt8(ascii: "0")) { try digits() }
        if take(UInt8(ascii: ".")) { try digits() }
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
            if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
            try digits()
        }
        return .number(String(decoding: bytes[start..<position], as: UTF8.self))
    }

    private mutating func digits() throws(JSONSyntaxError) {
        let start = position
        while let byte = current, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { position += 1 }
        guard position > start else { throw error("Unable to parse number.") }
    }

    private mutating func string() throws(JSONSyntaxError) -> String {
        position += 1
        let start = position
        while let byte = current, byte >= 0x20, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") { position += 1 }
        if take(UInt8(ascii: "\"")) { return String(decoding: bytes[start..<position - 1], as: UTF8.self) }
        var text = Array(bytes[start..<position])
        while let byte = current {
            position += 1
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\\"): try escape(into: &text)
            case 0..<0x20: throw error("Illegal control character in string.")
            default: text.append(byte)
            }
        }
        throw error("Closing quote expected in string.")
    }

    private mutating func escape(into text: inout [UInt8]) throws(JSONSyntaxError) {
        guard let byte = current else { throw error("Closing quote expected in string.") }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(byte)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "u"): text.append(contentsOf: String(try escapedScalar()).utf8)
        default: throw error("Invalid escape sequence.")
        }
    }

    private mutating func escapedScalar() throws(JSONSyntaxError) -> Character {
        let high = try hexadecimal()
        if let scalar = Unicode.Scalar(high) { return Character(scalar) }
        guard high < 0xDC00, take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")) else {
            throw error("Missing low surrogate.")
        }
        let low = try hexadecimal()
        guard (0xDC00..<0xE000).contains(low),
            let scalar = Unicode.Scalar(0x10000 + (high - 0xD800) << 10 + (low - 0xDC00))
        else { throw error("Invalid low surrogate.") }
        return Character(scalar)
    }

    private mutating func hexadecimal() throws(JSONSyntaxError) -> UInt32 {
        guard position + 4 <= bytes.count else { throw error("Illegal hex string.") }
        var value: UInt32 = 0
        for byte in bytes[position..<position + 4] {
            guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue else { throw error("Illegal hex string.") }
            value = value << 4 | UInt32(digit)
        }
        position += 4
        return value
    }
}

extension JSONValue {
    /// Parses a JSON text, nil when it is not JSON.
    public init?(parsing bytes: [UInt8]) {
        guard let value = try? JSONParser.parse(bytes) else { return nil }
        self = value
    }
}
