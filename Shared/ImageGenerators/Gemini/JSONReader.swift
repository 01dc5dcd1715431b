#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// Parses one JSON text for ``JSONDocument``.
struct JSONReader {
    private let bytes: UnsafeRawBufferPointer
    private var position = 0
    private var nodeCount = 0

    /// Thrown when the text is not JSON; the position is not needed.
    private struct Malformed: Error {}

    static func read(_ bytes: UnsafeRawBufferPointer) -> JSONDocument.Node? {
        var reader = JSONReader(bytes: bytes)
        guard let node = try? reader.value(depth: 0) else { return nil }
        reader.skipSpace()
        return reader.position == bytes.count ? node : nil
    }

    private init(bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    private var current: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func skipSpace() {
        while let byte = current, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        skipSpace()
        guard current == byte else { return false }
        position += 1
        return true
    }

    private mutating func value(depth: Int) throws(Malformed) -> JSONDocument.Node {
        nodeCount += 1
        skipSpace()
        guard depth < JSONDocument.maxDepth, nodeCount <= JSONDocument.maxNodeCount, let byte = current else { throw Malformed() }
        switch byte {
        case UInt8(ascii: "{"): return .object(try members(depth: depth))
        case UInt8(ascii: "["): return .array(try elements(depth: depth))
        case UInt8(ascii: "\""):
            let (range, hasEscapes) = try string()
            return .string(range, hasEscapes: hasEscapes)
        case UInt8(ascii: "t"): return try literal("true", .bool(true))
        case UInt8(ascii: "f"): return try literal("false", .bool(false))
        case UInt8(ascii: "n"): return try literal("null", .null)
        default: return .number(try number())
        }
    }

    private mutating func members(depth: Int) throws(Malformed) -> [(name: String, value: JSONDocument.Node)] {
        position += 1
        var members: [(name: String, value: JSONDocument.Node)] = []
        if take(UInt8(ascii: "}")) { return members }
        repeat {
            skipSpace()
            guard current == UInt8(ascii: "\"") else { throw Malformed() }
            // No name that is looked up has escapes or more than 128 bytes.
            let (range, hasEscapes) = try string()
            let name = hasEscapes || range.count > 128 ? "" : String(decoding: bytes[range], as: UTF8.self)
            guard take(UInt8(ascii: ":")) else { throw Malformed() }
            members.append((name, try value(depth: depth + 1)))
        } while take(UInt8(ascii: ","))
        guard take(UInt8(ascii: "}")) else { throw Malformed() }
        return members
    }

    private mutating func elements(depth: Int) throws(Malformed) -> [JSONDocument.Node] {
        position += 1
        var elements: [JSONDocument.Node] = []
        if take(UInt8(ascii: "]")) { return elements }
        repeat { elements.append(try value(depth: depth + 1)) } while take(UInt8(ascii: ","))
        guard take(UInt8(ascii: "]")) else { throw Malformed() }
        return elements
    }

    private mutating func literal(_ text: String, _ node: JSONDocument.Node) throws(Malformed) -> JSONDocument.Node {
        guard bytes[position...].starts(with: text.utf8) else { throw Malformed() }
        position += text.utf8.count
        return node
    }

    private mutating func number() throws(Malformed) -> Double {
        let rest = bytes[position...].prefix(64)
        let digits = rest.prefix { byte in
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || "+-.eE".utf8.contains(byte)
        }
        guard let value = Double(String(decoding: digits, as: UTF8.self)) else { throw Malformed() }
        position += digits.count
        return value
    }

    /// Skips a string with `memchr`, which takes milliseconds for megabytes.
    private mutating func string() throws(Malformed) -> (Range<Int>, hasEscapes: Bool) {
        position += 1
        let start = position
        var quote = try index(of: UInt8(ascii: "\""), from: start)
        var escape = firstEscape(in: start..<quote)
        let hasEscapes = escape != nil
        while let found = escape {
            if found + 1 >= quote { quote = try index(of: UInt8(ascii: "\""), from: found + 2) }
            escape = found + 2 < quote ? firstEscape(in: (found + 2)..<quote) : nil
        }
        position = quote + 1
        return (start..<quote, hasEscapes)
    }

    private func index(of byte: UInt8, from start: Int) throws(Malformed) -> Int {
        guard start < bytes.count, let base = bytes.baseAddress,
            let found = memchr(base + start, Int32(byte), bytes.count - start)
        else { throw Malformed() }
        return UnsafeRawPointer(found) - base
    }

    private func firstEscape(in range: Range<Int>) -> Int? {
        guard !range.isEmpty, let base = bytes.baseAddress,
            let found = memchr(base + range.lowerBound, Int32(UInt8(ascii: "\\")), range.count)
        else { return nil }
        return UnsafeRawPointer(found) - base
    }

    // MARK: Escapes

    /// Resolves the escapes of a string; nil when one of them is malformed.
    static func unescaped(_ raw: [UInt8]) -> [UInt8]? {
        var output: [UInt8] = []
        output.reserveCapacity(raw.count)
        var rest = raw[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\") else {
                output.append(byte)
                continue
            }
            switch rest.popFirst() {
            case UInt8(ascii: "n"): output.append(0x0A)
            case UInt8(ascii: "r"): output.append(0x0D)
            case UInt8(ascii: "t"): output.append(0x09)
            case UInt8(ascii: "b"): output.append(0x08)
            case UInt8(ascii: "f"): output.append(0x0C)
            case UInt8(ascii: "u"):
                guard let character = escapedCharacter(&rest) else { return nil }
                output.append(contentsOf: String(character).utf8)
            case let other?: output.append(other)
            case nil: return nil
            }
        }
        return output
    }

    private static func escapedCharacter(_ rest: inout ArraySlice<UInt8>) -> Unicode.Scalar? {
        guard let first = codeUnit(&rest) else { return nil }
        guard UTF16.isLeadSurrogate(first) else { return Unicode.Scalar(first) }
        guard rest.popFirst() == UInt8(ascii: "\\"), rest.popFirst() == UInt8(ascii: "u"), let second = codeUnit(&rest),
            UTF16.isTrailSurrogate(second)
        else { return nil }
        return Unicode.Scalar(0x10000 + UInt32(first - 0xD800) << 10 + UInt32(second - 0xDC00))
    }

    private static func codeUnit(_ rest: inout ArraySlice<UInt8>) -> UInt16? {
        guard rest.count >= 4 else { return nil }
        defer { rest = rest.dropFirst(4) }
        let digits = String(decoding: rest.prefix(4), as: UTF8.self)
        return digits.allSatisfy(\.isHexDigit) ? UInt16(digits, radix: 16) : nil
    }
}
