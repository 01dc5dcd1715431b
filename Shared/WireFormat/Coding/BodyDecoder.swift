import FoundationEssentials

/// Decodes a body, or one value in it, in place.
///
/// Foundation's decoder makes a dictionary of each object and a decoder of each value, which took more than half of the processor time of
/// consuming a short message. Times are whole milliseconds since 1970.
struct BodyDecoder: Decoder, SingleValueDecodingContainer {
    let tape: BodyTape
    /// The node of the value.
    let index: Int
    /// The keys around the value but for its own, which is joined to them only for an error or for values within.
    private let outerPath: [any CodingKey]
    private let key: (any CodingKey)?

    var codingPath: [any CodingKey] { key.map { outerPath + [$0] } ?? outerPath }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    init(_ tape: BodyTape, index: Int = 0, in outerPath: [any CodingKey] = [], at key: (any CodingKey)? = nil) {
        self.tape = tape
        self.index = index
        self.outerPath = outerPath
        self.key = key
    }

    private var node: BodyTape.Node { tape.nodes[index] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard node.kind == .object else { throw mismatch([String: Any].self) }
        return KeyedDecodingContainer(BodyFields<Key>(decoder: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard node.kind == .array else { throw mismatch([Any].self) }
        return BodyElements(decoder: self)
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

    func decodeNil() -> Bool { node.kind == .null }

    func decode(_ type: Bool.Type) throws -> Bool {
        switch node.kind {
        case .yes: true
        case .no: false
        default: throw mismatch(type)
        }
    }

    func decode(_ type: String.Type) throws -> String {
        guard let text = tape.text(at: index) else { throw mismatch(type) }
        return text
    }

    func decode(_ type: Double.Type) throws -> Double {
        guard node.kind == .number else { throw mismatch(type) }
        guard let number = Double(tape.text(of: node.asText)), number.isFinite else { throw corrupted("a number out of range") }
        return number
    }

    func decode(_ type: Float.Type) throws -> Float { Float(try decode(Double.self)) }
    func decode(_ type: Int.Type) throws -> Int { try integer() }
    func decode(_ type: Int8.Type) throws -> Int8 { try integer() }
    func decode(_ type: Int16.Type) throws -> Int16 { try integer() }
    func decode(_ type: Int32.Type) throws -> Int32 { try integer() }
    func decode(_ type: Int64.Type) throws -> Int64 { try integer() }
    func decode(_ type: UInt.Type) throws -> UInt { try integer() }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try integer() }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try integer() }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try integer() }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try integer() }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        if type == Date.self, let date = try date() as? Value { return date }
        if type == [String: String].self, let texts = try texts() as? Value { return texts }
        return try Value(from: self)
    }

    /// The members of an object of texts; of a key that is there twice, the first counts.
    private func texts() throws -> [String: String] {
        guard node.kind == .object else { throw mismatch([String: Any].self) }
        var texts = [String: String](minimumCapacity: Int(node.count))
        var member = index + 1
        while member < node.end {
            let name = tape.text(of: tape.nodes[member])
            guard let text = tape.text(at: member + 1) else {
                throw BodyDecoder(tape, index: member + 1, in: codingPath, at: Member(stringValue: name)).mismatch(String.self)
            }
            if texts[name] == nil { texts[name] = text }
            member = Int(tape.nodes[member + 1].end)
        }
        return texts
    }

    /// A key that no type names.
    private struct Member: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    private func integer<Number: FixedWidthInteger>() throws -> Number {
        guard node.kind == .number else { throw mismatch(Number.self) }
        let text = tape.text(of: node.asText)
        // A number with a fraction of zero or an exponent is whole too.
        guard let number = Number(text) ?? Double(text).flatMap(Number.init(exactly:)) else { throw corrupted("a number out of range") }
        return number
    }

    private func date() throws -> Date {
        let milliseconds: Int64 = try integer()
        guard (0...Date.maxWireMilliseconds).contains(milliseconds) else { throw corrupted("not a time from 1970 to 9999") }
        return Date(millisecondsSince1970: milliseconds)
    }

    private func corrupted(_ description: String) -> DecodingError {
        .dataCorrupted(DecodingError.Context(codingPath: codingPath, debugDescription: description))
    }

    /// The error for a value of another kind.
    private func mismatch(_ type: any Any.Type) -> DecodingError {
        let context = DecodingError.Context(codingPath: codingPath, debugDescription: "found \(node.kind)")
        return node.kind == .null ? .valueNotFound(type, context) : .typeMismatch(type, context)
    }
}

extension BodyTape.Node {
    /// A number's bytes as a text.
    fileprivate var asText: BodyTape.Node { BodyTape.Node(kind: .plainText, start: start, count: count, end: end) }
}
