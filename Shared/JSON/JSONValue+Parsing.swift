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
            let node = nextNode()
            switch node.kind {
            case .null: return .null
            case .true: return .bool(true)
            case .false: return .bool(false)
            case .integer: return .integer(node.place)
            case .number: return .number(node.text(in: bytes))
            case .ascii, .text: return .string(text(of: node))
            case .slice: return .slice(source[node.range])
            case .array:
                var elements: [JSONValue] = []
                elements.reserveCapacity(Int(node.length))
                for _ in 0..<node.length { elements.append(next()) }
                return .array(elements)
            case .object:
                var members: [Member] = []
                members.reserveCapacity(Int(node.length))
                for _ in 0..<node.length {
                    let name = text(of: nextNode())
                    members.append(Member(name, next()))
                }
                return .object(members)
            }
        }

        private mutating func nextNode() -> JSONDocument.Node {
            defer { index += 1 }
            return nodes[index]
        }

        private func text(of node: JSONDocument.Node) -> String {
            node.kind == .text ? texts[node.place] : node.text(in: bytes)
        }
    }
}
