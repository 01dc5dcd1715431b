#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

extension JSONValue {
    /// Parses a JSON text (RFC 8259), all of it and, unless ``JSONLimits/isLenient`` says otherwise, strictly: the names of an object must
    /// be unique.
    ///
    /// - Throws: `malformed`, `duplicateName` or `limitExceeded`.
    public init(parsing bytes: [UInt8], limits: JSONLimits = JSONLimits()) throws(JSONError) {
        self = try bytes.withUnsafeBufferPointer { buffer throws(JSONError) in
            var reader = JSONReader(source: bytes, bytes: buffer, limits: limits)
            return try reader.readAll()
        }
    }
}

/// Parses one JSON text.
private struct JSONReader {
    /// The longest string that is tried to be read in one pass.
    private static let maxShortBytes = 128

    /// The array that long strings are slices of.
    let source: [UInt8]
    let bytes: UnsafeBufferPointer<UInt8>
    let limits: JSONLimits
    private var position = 0
    private var valueCount = 0

    init(source: [UInt8], bytes: UnsafeBufferPointer<UInt8>, limits: JSONLimits) {
        self.source = source
        self.bytes = bytes
        self.limits = limits
    }

    mutating func readAll() throws(JSONError) -> JSONValue {
        let value = try value(depth: 0)
        skipBlanks()
        guard position == bytes.count else { throw fault("Parsing terminated before end of input.") }
        return value
    }

    private mutating func value(depth: Int) throws(JSONError) -> JSONValue {
        skipBlanks()
        valueCount += 1
        guard valueCount <= limits.maxValues else { throw fault("Too many values.", .limitExceeded) }
        guard let byte = current else { throw fault("Unexpected end of string.") }
        switch byte {
        case UInt8(ascii: "{"): return .object(try members(depth: depth))
        case UInt8(ascii: "["): return .array(try elements(depth: depth))
        case UInt8(ascii: "\""):
            if let text = shortString() { return .string(text) }
            let string = try string()
            if string.count > limits.maxStringBytes { return .slice(string) }
            guard limits.isLenient else { return .string(try JSONString.decode(string)) }
            return (try? JSONString.decode(string)).map(JSONValue.string) ?? .slice(string)
        case UInt8(ascii: "t"): return try literal("true", .bool(true))
        case UInt8(ascii: "f"): return try literal("false", .bool(false))
        case UInt8(ascii: "n"): return try literal("null", .null)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
        default: throw fault("Expected a value.")
        }
    }

    private mutating func members(depth: Int) throws(JSONError) -> [JSONValue.Member] {
        var members: [JSONValue.Member] = []
        var names: Set<String> = []
        try open(depth)
        if take("}") { return members }
        repeat {
            skipBlanks()
            guard current == UInt8(ascii: "\"") else { throw fault("Expected an object key or }.") }
            let name = if let text = shortString() { text } else { try name() }
            if !limits.isLenient, !limits.allowsRepeatedNames {
                // Only the names of a big object are hashed; few are compared faster.
                if members.count == 16 { names = Set(members.map(\.name)) }
                let isNew = members.count < 16 ? !members.contains { $0.name == name } : names.insert(name).inserted
                guard isNew else { throw fault("Repeated object key.", .duplicateName) }
            }
            guard take(":") else { throw fault("Expected : between key:value pair.") }
            members.append(JSONValue.Member(name, try value(depth: depth + 1)))
        } while take(",")
        guard take("}") else { throw fault("Expected , or } after key:value pair.") }
        return members
    }

    private mutating func name() throws(JSONError) -> String {
        let bytes = try string()
        return limits.isLenient ? (try? JSONString.decode(bytes)) ?? "" : try JSONString.decode(bytes)
    }

    private mutating func elements(depth: Int) throws(JSONError) -> [JSONValue] {
        var elements: [JSONValue] = []
        try open(depth)
        if take("]") { return elements }
        repeat { elements.append(try value(depth: depth + 1)) } while take(",")
        guard take("]") else { throw fault("Expected , or ] after array value.") }
        return elements
    }

    private mutating func open(_ depth: Int) throws(JSONError) {
        guard depth < limits.maxDepth else { throw fault("Message too deep.", .limitExceeded) }
        position += 1
    }

    private mutating func literal(_ text: String, _ value: JSONValue) throws(JSONError) -> JSONValue {
        guard bytes[position...].starts(with: text.utf8) else { throw fault("Unexpected token.") }
        position += text.utf8.count
        return value
    }

    private mutating func number() throws(JSONError) -> JSONValue {
        let start = position
        skip("-")
        let isZero = current == UInt8(ascii: "0")
        if isZero { position += 1 } else { try digits() }
        var isWhole = true
        if skip(".") {
            isWhole = false
            try digits()
        }
        if skip("e") || skip("E") {
            isWhole = false
            if !skip("+") { skip("-") }
            try digits()
        }
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        // Minus zero keeps its spelling.
        if isWhole, !isZero || position == start + 1, let number = Int(text) { return .integer(number) }
        guard limits.isLenient || Double(text)?.isFinite == true else { throw fault("Number out of range.") }
        return .number(text)
    }

    private mutating func digits() throws(JSONError) {
        let start = position
        while let byte = current, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { position += 1 }
        guard position > start else { throw fault("Unable to parse number.") }
    }

    /// Reads the string at the position if it is short and has no escapes, as most are; otherwise the position stays the same.
    private mutating func shortString() -> String? {
        let start = position + 1
        var end = start
        let limit = min(bytes.count, start + min(Self.maxShortBytes, limits.maxStringBytes) + 1)
        while end < limit, bytes[end] != UInt8(ascii: "\""), bytes[end] != UInt8(ascii: "\\"), bytes[end] >= 0x20 { end &+= 1 }
        guard end < limit, bytes[end] == UInt8(ascii: "\""),
            let text = String(utf8Bytes: UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(bytes)[start..<end]))
        else { return nil }
        position = end + 1
        return text
    }

    /// Reads the string at the position; the result is between its quotes.
    ///
    /// It is skipped with `memchr`, which takes a millisecond for a picture of megabytes.
    private mutating func string() throws(JSONError) -> ArraySlice<UInt8> {
        let start = position + 1
        var quote = try end(from: start)
        var escape = first(UInt8(ascii: "\\"), in: start..<quote)
        while let found = escape {
            if found + 1 >= quote { quote = try end(from: found + 2) }
            escape = first(UInt8(ascii: "\\"), in: min(found + 2, quote)..<quote)
        }
        position = quote + 1
        return source[start..<quote]
    }

    private func end(from start: Int) throws(JSONError) -> Int {
        guard start < bytes.count, let quote = first(UInt8(ascii: "\""), in: start..<bytes.count) else {
            throw fault("Closing quote expected in string.")
        }
        return quote
    }

    private func first(_ byte: UInt8, in range: Range<Int>) -> Int? {
        guard let base = UnsafeRawPointer(bytes.baseAddress), let found = memchr(base + range.lowerBound, Int32(byte), range.count) else {
            return nil
        }
        return UnsafeRawPointer(found) - base
    }

    private var current: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func skipBlanks() {
        while let byte = current, JSONString.isBlank(byte) { position += 1 }
    }

    /// Skips blanks and that character; false if another one follows.
    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        skipBlanks()
        return skip(character)
    }

    @discardableResult
    private mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard current == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    private func fault(_ message: String, _ code: JSONError.Code = .malformed) -> JSONError {
        JSONError(code, message, at: position)
    }
}
