/// The values of a JSON text in preorder, as ranges of its bytes: the text is read once, and a text or a number is made when it is
/// asked for.
///
/// Of an object, each key stands before its value.
final class BodyTape: Sendable {
    /// The kind of a value.
    enum Kind: UInt8, Sendable {
        case null, yes, no, number
        /// A text whose bytes are its characters.
        case plainText
        /// A text with escapes.
        case escapedText
        case array, object
    }

    /// One value or key.
    struct Node: Sendable {
        let kind: Kind
        /// The first byte of a text, without its quote, or of a number.
        let start: Int32
        /// The bytes of a text or number; the elements of an array, or the members of an object.
        var count: Int32
        /// The index of the node after this value and its parts.
        var end: Int32
    }

    let bytes: [UInt8]
    let nodes: [Node]

    /// Reads a text; nil when it is not one JSON value in UTF-8, or nested deeper than ``BodyParser/maxDepth``.
    init?(_ bytes: [UInt8]) {
        var parser = BodyParser()
        let isGood = bytes.withUnsafeBufferPointer { parser.parse($0) }
        guard isGood, bytes.count < Int32.max else { return nil }
        if parser.hasNonASCII {
            guard (try? UTF8Span(validating: bytes.span)) != nil else { return nil }
        }
        self.bytes = bytes
        nodes = parser.nodes
    }

    /// Calls `body` with the bytes of a text or number, escapes included.
    func withBytes<Result>(of node: Node, _ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        bytes.withUnsafeBufferPointer { body(UnsafeBufferPointer(rebasing: $0[Int(node.start)..<Int(node.start + node.count)])) }
    }

    /// The characters of a text.
    func text(of node: Node) -> String {
        withBytes(of: node) { bytes in
            node.kind == .plainText ? String(decoding: bytes, as: UTF8.self) : JSONEscapes.resolve(bytes)
        }
    }

    /// Returns the characters of the text at an index; nil for another value.
    func text(at index: Int) -> String? {
        let node = nodes[index]
        return node.kind == .plainText || node.kind == .escapedText ? text(of: node) : nil
    }

    /// Returns the index of the value of a key, nil when the object does not have it; of a key that is there twice, the first counts.
    func value(of key: String, in object: Int) -> Int? {
        var key = key
        return key.withUTF8 { key in
            var index = object + 1
            let end = Int(nodes[object].end)
            while index < end {
                let node = nodes[index]
                if node.kind == .plainText {
                    if Int(node.count) == key.count, withBytes(of: node, { $0.elementsEqual(key) }) { return index + 1 }
                } else if text(of: node).utf8.elementsEqual(key) {
                    return index + 1
                }
                index = Int(nodes[index + 1].end)
            }
            return nil
        }
    }
}

/// Reads JSON (RFC 8259) into the nodes of a ``BodyTape``.
struct BodyParser {
    /// The most arrays and objects around a value.
    static let maxDepth = 128

    private(set) var nodes: [BodyTape.Node] = []
    /// Whether a byte beyond ASCII was seen, so that the text has to be checked for UTF-8.
    private(set) var hasNonASCII = false
    private var position = 0

    /// Reads a whole text; false when it is not JSON.
    mutating func parse(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        nodes.reserveCapacity(16)
        guard value(text, depth: 0) else { return false }
        skipBlanks(text)
        return position == text.count
    }

    private mutating func value(_ text: UnsafeBufferPointer<UInt8>, depth: Int) -> Bool {
        skipBlanks(text)
        guard position < text.count, depth <= Self.maxDepth else { return false }
        switch text[position] {
        case UInt8(ascii: "\""): return string(text)
        case UInt8(ascii: "{"): return container(.object, until: UInt8(ascii: "}"), text, depth)
        case UInt8(ascii: "["): return container(.array, until: UInt8(ascii: "]"), text, depth)
        case UInt8(ascii: "t"): return word("true", .yes, text)
        case UInt8(ascii: "f"): return word("false", .no, text)
        case UInt8(ascii: "n"): return word("null", .null, text)
        default: return number(text)
        }
    }

    private mutating func container(
        _ kind: BodyTape.Kind, until closing: UInt8, _ text: UnsafeBufferPointer<UInt8>, _ depth: Int
    ) -> Bool {
        let index = nodes.count
        nodes.append(BodyTape.Node(kind: kind, start: Int32(position), count: 0, end: 0))
        position += 1
        var count: Int32 = 0
        skipBlanks(text)
        if take(closing, text) {
            nodes[index].end = Int32(nodes.count)
            return true
        }
        repeat {
            if kind == .object {
                skipBlanks(text)
                guard position < text.count, text[position] == UInt8(ascii: "\""), string(text) else { return false }
                skipBlanks(text)
                guard take(UInt8(ascii: ":"), text) else { return false }
            }
            guard value(text, depth: depth + 1) else { return false }
            count += 1
            skipBlanks(text)
        } while take(UInt8(ascii: ","), text)
        nodes[index].count = count
        nodes[index].end = Int32(nodes.count)
        return take(closing, text)
    }

    private mutating func string(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        position += 1
        let start = position
        var (isEscaped, union): (Bool, UInt8) = (false, 0)
        while position < text.count {
            let byte = text[position]
            if byte == UInt8(ascii: "\"") {
                if union >= 0x80 { hasNonASCII = true }
                add(isEscaped ? .escapedText : .plainText, from: start)
                position += 1
                return true
            }
            guard byte >= 0x20 else { return false }
            if byte == UInt8(ascii: "\\") {
                guard let length = JSONEscapes.length(text, at: position) else { return false }
                isEscaped = true
                position += length
            } else {
                union |= byte
                position += 1
            }
        }
        return false
    }

    private mutating func number(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        let start = position
        _ = take(UInt8(ascii: "-"), text)
        let first = position
        guard digits(text), text[first] != UInt8(ascii: "0") || position == first + 1 else { return false }
        if take(UInt8(ascii: "."), text) { guard digits(text) else { return false } }
        if take(UInt8(ascii: "e"), text) || take(UInt8(ascii: "E"), text) {
            if !take(UInt8(ascii: "+"), text) { _ = take(UInt8(ascii: "-"), text) }
            guard digits(text) else { return false }
        }
        add(.number, from: start)
        return true
    }

    private mutating func digits(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        let start = position
        while position < text.count, text[position] &- UInt8(ascii: "0") < 10 { position += 1 }
        return position > start
    }

    private mutating func word(_ word: StaticString, _ kind: BodyTape.Kind, _ text: UnsafeBufferPointer<UInt8>) -> Bool {
        let (start, length) = (position, word.utf8CodeUnitCount)
        guard text.count - start >= length, text[start..<start + length].elementsEqual(word.utf8) else { return false }
        position += length
        add(kind, from: start)
        return true
    }

    private mutating func add(_ kind: BodyTape.Kind, from start: Int) {
        let end = Int32(nodes.count) + 1
        nodes.append(BodyTape.Node(kind: kind, start: Int32(start), count: Int32(position - start), end: end))
    }

    private mutating func take(_ byte: UInt8, _ text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard position < text.count, text[position] == byte else { return false }
        position += 1
        return true
    }

    private mutating func skipBlanks(_ text: UnsafeBufferPointer<UInt8>) {
        while position < text.count, [0x20, 0x0A, 0x0D, 0x09].contains(text[position]) { position += 1 }
    }
}

extension StaticString {
    fileprivate var utf8: UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(start: utf8Start, count: utf8CodeUnitCount) }
}
