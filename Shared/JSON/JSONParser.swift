/// Parses one JSON text into the nodes of a ``JSONDocument``.
struct JSONParser {
    /// The longest string that is tried to be read in one pass.
    private static let maxShortBytes = 128

    /// The array that long strings are slices of.
    let source: [UInt8]
    let bytes: UnsafeBufferPointer<UInt8>
    let limits: JSONLimits
    private var position = 0
    private var valueCount = 0
    private var nodes: [JSONDocument.Node] = []
    private var texts: [String] = []

    private init(source: [UInt8], bytes: UnsafeBufferPointer<UInt8>, limits: JSONLimits) {
        self.source = source
        self.bytes = bytes
        self.limits = limits
    }

    /// Returns the values of a text, and its strings that had to be decoded.
    static func parse(_ text: [UInt8], _ limits: JSONLimits) throws(JSONError) -> (nodes: [JSONDocument.Node], texts: [String]) {
        guard text.count < Int32.max else { throw JSONError(.limitExceeded, "More than 2 GB.") }
        return try text.withUnsafeBufferPointer { bytes throws(JSONError) in
            var parser = JSONParser(source: text, bytes: bytes, limits: limits)
            return try parser.parse()
        }
    }

    private mutating func parse() throws(JSONError) -> (nodes: [JSONDocument.Node], texts: [String]) {
        nodes.reserveCapacity(min(8 + bytes.count / 16, 1024))
        // Editors and .NET write a byte order mark, which a reader may ignore (RFC 8259 §8.1).
        if bytes.starts(with: JSONString.byteOrderMark) { position = JSONString.byteOrderMark.count }
        try value(depth: 0)
        skipBlanks()
        guard position == bytes.count else { throw fault("Parsing terminated before end of input.") }
        return (nodes, texts)
    }

    private mutating func value(depth: Int) throws(JSONError) {
        skipBlanks()
        valueCount += 1
        guard valueCount <= limits.maxValues else { throw fault("Too many values.", .limitExceeded) }
        guard let byte = current else { throw fault("Unexpected end of string.") }
        switch byte {
        case UInt8(ascii: "{"): try members(depth: depth)
        case UInt8(ascii: "["): try elements(depth: depth)
        case UInt8(ascii: "\""): try string(isName: false)
        case UInt8(ascii: "t"): try literal("true", .true)
        case UInt8(ascii: "f"): try literal("false", .false)
        case UInt8(ascii: "n"): try literal("null", .null)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): try number()
        default: throw fault("Expected a value.")
        }
    }

    private mutating func append(_ kind: JSONDocument.Node.Kind, _ place: Int = 0, _ length: Int = 0) {
        nodes.append(.init(place: place, length: Int32(length), end: Int32(nodes.count) + 1, kind: kind))
    }

    private mutating func members(depth: Int) throws(JSONError) {
        let object = nodes.count
        append(.object)
        var names: Set<String> = []
        var count: Int32 = 0
        try open(depth)
        if take("}") { return }
        repeat {
            skipBlanks()
            guard current == UInt8(ascii: "\"") else { throw fault("Expected an object key or }.") }
            let name = nodes.count
            try string(isName: true)
            if !limits.isLenient, !limits.allowsRepeatedNames, isRepeated(name, of: object, count, &names) {
                throw fault("Repeated object key.", .duplicateName)
            }
            guard take(":") else { throw fault("Expected : between key:value pair.") }
            try value(depth: depth + 1)
            count += 1
        } while take(",")
        guard take("}") else { throw fault("Expected , or } after key:value pair.") }
        close(object, count)
    }

    /// Whether an object has a name among its first `count`. Only the names of a big object are hashed; few are compared faster.
    private func isRepeated(_ name: Int, of object: Int, _ count: Int32, _ names: inout Set<String>) -> Bool {
        if count > 16 { return !names.insert(text(of: nodes[name])).inserted }
        var other = object + 1
        for _ in 0..<count {
            if isEqual(nodes[name], nodes[other]) { return true }
            if count == 16 { names.insert(text(of: nodes[other])) }
            other = Int(nodes[other + 1].end)
        }
        if count == 16 { names.insert(text(of: nodes[name])) }
        return false
    }

    private func isEqual(_ name: JSONDocument.Node, _ other: JSONDocument.Node) -> Bool {
        guard name.kind == .ascii, other.kind == .ascii else { return text(of: name) == text(of: other) }
        let bytes = UnsafeRawBufferPointer(bytes)
        return JSONString.isEqual(UnsafeRawBufferPointer(rebasing: bytes[name.range]), UnsafeRawBufferPointer(rebasing: bytes[other.range]))
    }

    private func text(of node: JSONDocument.Node) -> String {
        node.kind == .text ? texts[node.place] : node.text(in: UnsafeRawBufferPointer(bytes))
    }

    private mutating func elements(depth: Int) throws(JSONError) {
        let array = nodes.count
        append(.array)
        var count: Int32 = 0
        try open(depth)
        if take("]") { return }
        repeat {
            try value(depth: depth + 1)
            count += 1
        } while take(",")
        guard take("]") else { throw fault("Expected , or ] after array value.") }
        close(array, count)
    }

    /// Completes the node of an array or an object, whose last value was the last one so far.
    private mutating func close(_ node: Int, _ count: Int32) {
        nodes[node].length = count
        nodes[node].end = Int32(nodes.count)
    }

    private mutating func open(_ depth: Int) throws(JSONError) {
        guard depth < limits.maxDepth else { throw fault("Message too deep.", .limitExceeded) }
        position += 1
    }

    private mutating func literal(_ text: String, _ kind: JSONDocument.Node.Kind) throws(JSONError) {
        guard bytes[position...].starts(with: text.utf8) else { throw fault("Unexpected token.") }
        position += text.utf8.count
        append(kind)
    }

    private mutating func number() throws(JSONError) {
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
        if isWhole, !isZero || position == start + 1, let number = Int(text) { return append(.integer, number) }
        guard limits.isLenient || limits.allowsNumbersOutOfRange || Double(text)?.isFinite == true else {
            throw fault("Number out of range.")
        }
        append(.number, start, position - start)
    }

    private mutating func digits() throws(JSONError) {
        let start = position
        while let byte = current, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { position += 1 }
        guard position > start else { throw fault("Unable to parse number.") }
    }

    /// Reads the string at the position. A name is always decoded.
    private mutating func string(isName: Bool) throws(JSONError) {
        if shortString() { return }
        let string = try bytesOfString()
        if !isName, string.count > limits.maxStringBytes { return append(.slice, string.startIndex, string.count) }
        guard limits.isLenient else { return append(text: try JSONString.decode(string)) }
        if let text = try? JSONString.decode(string) { return append(text: text) }
        if isName { append(text: "") } else { append(.slice, string.startIndex, string.count) }
    }

    private mutating func append(text: String) {
        append(.text, texts.count)
        texts.append(text)
    }

    /// Reads the string at the position if it is short and has no escapes, as most are; otherwise the position stays the same.
    private mutating func shortString() -> Bool {
        let start = position + 1
        let limit = min(bytes.count, start + min(Self.maxShortBytes, limits.maxStringBytes) + 1)
        guard start < limit else { return false }
        let (end, isASCII) = JSONString.plainText(in: UnsafeRawBufferPointer(start: bytes.baseAddress, count: limit), from: start)
        guard end < limit, bytes[end] == UInt8(ascii: "\"") else { return false }
        if isASCII {
            append(.ascii, start, end - start)
        } else if let text = String(validating: UnsafeBufferPointer(rebasing: bytes[start..<end]), as: UTF8.self) {
            append(text: text)
        } else {
            return false
        }
        position = end + 1
        return true
    }

    /// Reads the string at the position; the result is between its quotes.
    private mutating func bytesOfString() throws(JSONError) -> ArraySlice<UInt8> {
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
            throw JSONError(.malformed, "Closing quote expected in string.", at: bytes.count)
        }
        return quote
    }

    private func first(_ byte: UInt8, in range: Range<Int>) -> Int? {
        JSONString.first(byte, in: UnsafeRawBufferPointer(bytes), range)
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
