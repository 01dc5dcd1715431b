/// A value in a ``JSONDocument``, which it keeps alive.
public struct JSONElement: Sendable {
    let document: JSONDocument
    /// The index of its node.
    let index: Int32

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
        case .number: JSONValue.integer(spelledAs: text(of: node))
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

    /// Calls `body` with the UTF-8 of a string, which is valid during the call only.
    ///
    /// It has no generic result, because the runtime would look up the result's type in each call from another module.
    ///
    /// - Returns: False, without a call, if ``string`` is nil.
    @discardableResult
    public func withText(_ body: (UnsafeRawBufferPointer) -> Void) -> Bool { document.withText(of: node) { body($0) } != nil }

    /// Whether this is a string with that text, compared where it is.
    public func isText(_ text: String) -> Bool { text.withBytes { document.isText(node, $0) } }

    /// The elements of an array, nil for anything else.
    public var elements: [JSONElement]? {
        guard node.kind == .array else { return nil }
        var elements: [JSONElement] = []
        elements.reserveCapacity(Int(node.length))
        var next = index + 1
        for _ in 0..<node.length {
            elements.append(JSONElement(document: document, index: next))
            next = document.nodes[Int(next)].end
        }
        return elements
    }

    /// Whether this is an object.
    public var isObject: Bool { node.kind == .object }

    /// The value of the first member of that name; nil without such a member, or when this is not an object.
    public subscript(name: String) -> JSONElement? {
        let node = node
        guard node.kind == .object else { return nil }
        let found = name.withBytes { name -> Int32? in
            var next = index + 1
            for _ in 0..<node.length {
                if document.isText(document.nodes[Int(next)], name) { return next + 1 }
                next = document.nodes[Int(next) + 1].end
            }
            return nil
        }
        return found.map { JSONElement(document: document, index: $0) }
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

    private func text(of node: JSONDocument.Node) -> String { document.bytes.withUnsafeBytes { node.text(in: $0) } }
}
