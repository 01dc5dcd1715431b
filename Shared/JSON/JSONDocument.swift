/// A JSON text (RFC 8259) that is parsed and stays where it is: a list of its values in the order of the text.
///
/// For code that looks at a few values and copies fewer; ``JSONValue`` copies all of them.
public final class JSONDocument: Sendable {
    /// A value, or the name of a member, which comes before its value.
    struct Node {
        enum Kind: UInt8 {
            case null, `true`, `false`
            /// `place` is the number.
            case integer
            /// Another number; `place` and `length` are those of its spelling.
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
    }

    let bytes: [UInt8]
    let nodes: [Node]
    let texts: [String]

    /// Parses a text, all of it and, unless ``JSONLimits/isLenient`` says otherwise, strictly: the names of an object must be unique.
    ///
    /// - Throws: `malformed`, `duplicateName` or `limitExceeded`.
    public init(parsing bytes: [UInt8], limits: JSONLimits = JSONLimits()) throws(JSONError) {
        guard bytes.count < Int32.max else { throw JSONError(.limitExceeded, "More than 2 GB.") }
        self.bytes = bytes
        (nodes, texts) = try bytes.withUnsafeBufferPointer { buffer throws(JSONError) in
            var parser = JSONParser(source: bytes, bytes: buffer, limits: limits)
            return try parser.parse()
        }
    }

    /// The value that the whole text is.
    public var root: JSONElement { JSONElement(document: self, index: 0) }
}

/// A value in a ``JSONDocument``, which it keeps alive.
public struct JSONElement: Sendable {
    let document: JSONDocument
    fileprivate let index: Int32

    var node: JSONDocument.Node { document.nodes[Int(index)] }

    /// Whether this is `null`.
    public var isNull: Bool { node.kind == .null }

    /// The value of a boolean, nil for anything else.
    public var boolean: Bool? {
        switch node.kind {
        case .true: true
        case .false: false
        default: nil
        }
    }

    /// The value of a whole number, also of one with a decimal point or an exponent; nil for anything else.
    public var integer: Int? {
        switch node.kind {
        case .integer: node.place
        case .number: Double(text(of: node)).flatMap { Int(exactly: $0) }
        default: nil
        }
    }

    /// The text of a string, nil for anything else and for a string that was not decoded.
    public var string: String? {
        switch node.kind {
        case .ascii: text(of: node)
        case .text: document.texts[node.place]
        default: nil
        }
    }

    /// Calls `body` with the UTF-8 of a string, which is valid during the call only; nil for anything that ``string`` is nil for.
    public func withText<Result>(_ body: (UnsafeRawBufferPointer) -> Result?) -> Result? {
        switch node.kind {
        case .ascii: return withBytes(of: node, body)
        case .text:
            var text = document.texts[node.place]
            return text.withUTF8 { body(UnsafeRawBufferPointer($0)) }
        default: return nil
        }
    }

    /// The elements of an array, nil for anything else.
    public var elements: [JSONElement]? {
        guard node.kind == .array else { return nil }
        var elements: [JSONElement] = []
        elements.reserveCapacity(Int(node.length))
        forEachElement { elements.append($0) }
        return elements
    }

    /// Whether this is an object.
    public var isObject: Bool { node.kind == .object }

    /// The value of the first member of that name; nil when there is none, or this is no object.
    public subscript(name: String) -> JSONElement? {
        guard node.kind == .object else { return nil }
        var name = name
        return name.withUTF8 { name in
            let name = UnsafeRawBufferPointer(name)
            var next = index + 1
            for _ in 0..<node.length {
                if JSONElement(document: document, index: next).isText(name) { return JSONElement(document: document, index: next + 1) }
                next = document.nodes[Int(next) + 1].end
            }
            return nil
        }
    }

    /// Calls `body` with each element of an array.
    func forEachElement(_ body: (JSONElement) -> Void) {
        var next = index + 1
        for _ in 0..<node.length {
            body(JSONElement(document: document, index: next))
            next = document.nodes[Int(next)].end
        }
    }

    /// Calls `body` with the name and the value of each member of an object, in their order.
    ///
    /// - Returns: False, without a call, when this is no object.
    @discardableResult
    public func forEachMember<Fault: Error>(_ body: (String, JSONElement) throws(Fault) -> Void) throws(Fault) -> Bool {
        guard node.kind == .object else { return false }
        var next = index + 1
        for _ in 0..<node.length {
            let name = JSONElement(document: document, index: next)
            try body(name.string ?? "", JSONElement(document: document, index: next + 1))
            next = document.nodes[Int(next) + 1].end
        }
        return true
    }

    private func isText(_ other: UnsafeRawBufferPointer) -> Bool {
        let node = node
        if node.kind == .ascii {
            guard Int(node.length) == other.count else { return false }
            return withBytes(of: node) { $0.elementsEqual(other) }
        }
        return withText { $0.elementsEqual(other) } ?? false
    }

    private func withBytes<Result>(of node: JSONDocument.Node, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        document.bytes.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[node.place..<(node.place + Int(node.length))])) }
    }

    private func text(of node: JSONDocument.Node) -> String { withBytes(of: node) { String(decoding: $0, as: UTF8.self) } }
}
