extension JSONValue {
    /// Parses a JSON text; see ``JSONDocument/init(parsing:limits:)``.
    public init(parsing bytes: [UInt8], limits: JSONLimits = JSONLimits()) throws(JSONError) {
        self.init(try JSONDocument(parsing: bytes, limits: limits).root)
    }

    /// Copies a value of a document; it is nested no deeper than the limits allowed.
    init(_ element: JSONElement) {
        let (node, bytes) = (element.node, element.document.bytes)
        switch node.kind {
        case .null: self = .null
        case .true: self = .bool(true)
        case .false: self = .bool(false)
        case .integer: self = .integer(node.place)
        case .number: self = .number(String(decoding: bytes[node.place..<(node.place + Int(node.length))], as: UTF8.self))
        case .ascii, .text: self = .string(element.string ?? "")
        case .slice: self = .slice(bytes[node.place..<(node.place + Int(node.length))])
        case .array:
            var elements: [JSONValue] = []
            elements.reserveCapacity(Int(node.length))
            element.forEachElement { elements.append(JSONValue($0)) }
            self = .array(elements)
        case .object:
            var members: [Member] = []
            members.reserveCapacity(Int(node.length))
            element.forEachMember { members.append(Member($0, JSONValue($1))) }
            self = .object(members)
        }
    }
}
