/// A parsed JSON text whose strings stay where they are: a picture of megabytes is never copied into a string.
///
/// Lenient where it costs nothing to be (control characters in strings, spellings of numbers); strict about structure,
/// and about how much of it there may be.
struct JSONDocument {
    /// The most values and members of a document; a real answer has a few dozen.
    static let nodeCountMax = 20_000
    /// How deep arrays and objects may nest.
    static let depthMax = 64

    indirect enum Node {
        case object([(name: String, value: Node)])
        case array([Node])
        /// Where a string stands between its quotes, and whether a backslash does too.
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

    /// Parses a text; nil when it is not JSON, or more than the limits allow.
    init?(_ bytes: [UInt8]) {
        guard let node = bytes.withUnsafeBytes({ JSONReader.read($0) }) else { return nil }
        self.bytes = bytes
        self.node = node
    }

    var root: Value { Value(document: self, node: node) }
}

extension JSONDocument.Value {
    /// The member of that name in either spelling of Google's: `finishReason` and `finish_reason`.
    subscript(name: String) -> Self? {
        guard case .object(let members) = node else { return nil }
        let member = members.first { $0.name == name } ?? members.first { $0.name == Self.snakeCase(name) }
        return member.map { Self(document: document, node: $0.value) }
    }

    /// The elements of an array, none of anything else.
    var elements: [Self] {
        guard case .array(let nodes) = node else { return [] }
        return nodes.map { Self(document: document, node: $0) }
    }

    /// The values of an object's members, none of anything else.
    var values: [Self] {
        guard case .object(let members) = node else { return [] }
        return members.map { Self(document: document, node: $0.value) }
    }

    var isTrue: Bool {
        guard case .bool(true) = node else { return false }
        return true
    }

    /// The text of a string that has at most that many bytes.
    func text(atMost byteCountMax: Int = 512) -> String? {
        guard case .string(let range, let hasEscapes) = node, range.count <= byteCountMax else { return nil }
        let raw = Array(document.bytes[range])
        return String(validating: hasEscapes ? JSONReader.unescaped(raw) ?? [0xFF] : raw, as: UTF8.self)
    }

    /// Lends the bytes of a string; copied only when it has escapes, such as `\/` in base64. Nil when it is no string.
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
