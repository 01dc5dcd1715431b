/// A parsed JSON text (RFC 8259): the text itself, and a list of its values in the order of the text.
///
/// A value is copied when it is read; ``JSONValue`` copies all values.
public final class JSONDocument: Sendable {
    /// A value, or the name of a member, which comes before its value.
    struct Node {
        enum Kind: UInt8 {
            case null, `true`, `false`
            /// `place` is the number.
            case integer
            /// Another number; `place` and `length` locate its spelling.
            case number
            /// A string of ASCII without escapes; `place` and `length` are those of its bytes.
            case ascii
            /// Any other string; `place` is its index in ``JSONDocument/texts``.
            case text
            /// A string that is not decoded; `place` and `length` are those of its bytes.
            case slice
            /// `length` is the number of its elements, or of its members.
            case array, object
        }

        var place: Int
        var length: Int32
        /// The index of the node after this value and the values in it.
        var end: Int32
        var kind: Kind

        /// The bytes of a spelling or a string.
        var range: Range<Int> { place..<(place + Int(length)) }

        /// The text of a spelling or a string of ASCII in the bytes of the document.
        func text(in bytes: UnsafeRawBufferPointer) -> String {
            String(decoding: UnsafeRawBufferPointer(rebasing: bytes[range]), as: UTF8.self)
        }
    }

    let bytes: [UInt8]
    let nodes: [Node]
    let texts: [String]

    /// Parses a text, all of it and, unless ``JSONLimits/isLenient`` says otherwise, strictly: the names of an object must be unique.
    ///
    /// - Throws: `malformed`, `duplicateName` or `limitExceeded`.
    public init(parsing bytes: [UInt8], limits: JSONLimits = JSONLimits()) throws(JSONError) {
        (nodes, texts) = try JSONParser.parse(bytes, limits)
        self.bytes = bytes
    }

    /// Calls `body` with the UTF-8 of a string that was decoded; nil for anything else.
    func withText<Result>(of node: Node, _ body: (UnsafeRawBufferPointer) -> Result?) -> Result? {
        switch node.kind {
        case .ascii: bytes.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[node.range])) }
        case .text: texts[node.place].withBytes(body)
        default: nil
        }
    }

    /// Whether a value is that string.
    func isText(_ node: Node, _ text: UnsafeRawBufferPointer) -> Bool { withText(of: node) { JSONString.isEqual($0, text) } ?? false }

    /// The value that the whole text is.
    public var root: JSONElement { JSONElement(document: self, index: 0) }
}
