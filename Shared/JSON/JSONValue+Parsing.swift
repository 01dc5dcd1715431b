extension JSONValue {
    /// Parses a JSON text; see ``JSONDocument/init(parsing:limits:)``.
    public init(parsing bytes: [UInt8], limits: JSONLimits = JSONLimits()) throws(JSONError) {
        let (nodes, texts) = try JSONParser.parse(bytes, limits)
        self = nodes.withUnsafeBufferPointer { nodes in
            bytes.withUnsafeBytes { buffer in
                var copy = Copy(source: bytes, bytes: buffer, nodes: nodes, texts: texts)
                return copy.next()
            }
        }
    }

    /// Copies the values of a document in their order, which are nested no deeper than the limits of its parser allowed.
    private struct Copy {
        /// The array that long strings are slices of.
        let source: [UInt8]
        let bytes: UnsafeRawBufferPointer
        let nodes: UnsafeBufferPointer<JSONDocument.Node>
        let texts: [String]
        private var index = 0

        init(source: [UInt8], bytes: UnsafeRawBufferPointer, nodes: UnsafeBufferPointer<JSONDocument.Node>, texts: [String]) {
            self.source = source
            self.bytes = bytes
            self.nodes = nodes
            self.texts = texts
        }

        mutating func next() -> JSONValue {
            let node = nodes[index]
            switch node.kind {
            case .ascii, .text: return .string(nextText())
            case .array:
                index += 1
                var elements: [JSONValue] = []
                elements.reserveCapacity(Int(node.length))
                for _ in 0..<node.length { elements.append(next()) }
                return .array(elements)
            case .object:
                index += 1
                var members: [Member] = []
                members.reserveCapacity(Int(node.length))
                for _ in 0..<node.length {
                    let name = nextText()
                    members.append(Member(name, next()))
                }
                return .object(members)
            default:
                index += 1
                return single(node)
            }
        }

        private mutating func nextText() -> String {
            let node = nodes[index]
            index += 1
            return node.kind == .ascii ? text(node) : texts[node.place]
        }

        private func single(_ node: JSONDocument.Node) -> JSONValue {
            switch node.kind {
            case .true: .bool(true)
            case .false: .bool(false)
            case .integer: .integer(node.place)
            case .number: .number(text(node))
            case .slice: .slice(source[node.place..<(node.place + Int(node.length))])
            default: .null
            }
        }

        private func text(_ node: JSONDocument.Node) -> String {
            String(decoding: UnsafeRawBufferPointer(rebasing: bytes[node.place..<(node.place + Int(node.length))]), as: UTF8.self)
        }
    }
}
