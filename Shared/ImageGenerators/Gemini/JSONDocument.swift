/// A parsed JSON text whose strings are ranges of its bytes, so that a picture of megabytes is never copied into a `String`.
///
/// The parser accepts control characters in strings and non-standard spellings of numbers; it is strict about structure and
/// enforces limits on count and depth.
struct JSONDocument {
    /// Maximum number of values of a document; a real answer has a few dozen.
    static let maxNodeCount = 20_000
    /// Maximum nesting of arrays and objects.
    static let maxDepth = 64

    indirect enum Node {
        case object([(name: String, value: Node)])
        case array([Node])
        /// The range of a string between its quotes, and whether it contains escapes.
        case string(Range<Int>, hasEscapes: Bool)
        case number(Double)
        case bool(Bool)
        case null
    }

    /// A value of a document.
    struct Value {
        fileprivate let document: JSONDocument
        let node: Node
    }

    let bytes: [UInt8]
    private let node: Node

    /// Parses a text; nil when it is not JSON or exceeds the limits.
    init?(_ bytes: [UInt8]) {
        guard let node = bytes.withUnsafeBytes({ JSONReader.read($0) }) else { return nil }
        self.bytes = bytes
        self.node = node
    }

    var root: Value { Value(document: self, node: node) }
}

extension JSONDocument.Value {
    /// The member with a name in camel case or in snake case, as Google sends both: `finishReason` or `finish_reason`.
    subscript(name: String) -> Self? {
        guard case .object(let members) = node else { return nil }
        let member = members.first { $0.name == name } ?? members.first { $0.name == Self.snakeCase(name) }
        return member.map { Self(document: document, node: $0.value) }
    }

    /// The elements of an array; empty for any other value.
    var elements: [Self] {
        guard case .array(let nodes) = node else { return [] }
        return nodes.map { Self(document: document, node: $0) }
    }

    /// The values of an object's members; empty for any other value.
    var values: [Self] {
        guard case .object(let members) = node else { return [] }
        return members.map { Self(document: document, node: $0.value) }
    }

    var isTrue: Bool {
        guard case .bool(true) = node else { return false }
        return true
    }

    /// The text of a string; nil when it is longer than the limit, malformed, or no string.
    func text(atMost maxByteCount: Int = 512) -> String? {
        guard case .string(let range, let hasEscapes) = node, range.count <= maxByteCount else { return nil }
        let raw = Array(document.bytes[range])
        return String(validating: hasEscapes ? JSONReader.unescaped(raw) ?? [0xFF] : raw, as: UTF8.self)
    }

    /// Calls `body` with the bytes of a string, which are copied only if it has escapes, such as `\/` in base64. Nil for any other value.
    func withText<Result>(_ body: (UnsafeRawBufferPointer) -> Result?) -> Result? {
        guard case .string(let range, let hasEscapes) = node else { return nil }
        guard hasEscapes else {
            return document.bytes.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[range])) }
        }
        return JSONReader.unescaped(Array(document.bytes[range]))?.withUnsafeBytes(body)
    }

    private static func snakeCase(_ name: String) -> String {
        name.reduce(into: "") { $0 += $1.isUppercase ? "_" + $1.lowercased() : String($1) }
    }
}
