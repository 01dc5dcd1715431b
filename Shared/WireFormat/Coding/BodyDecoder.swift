import FoundationEssentials
internal import JSON

/// Decodes a body, or one value in it, from the values of its JSON.
///
/// Foundation's decoder makes a dictionary of each object and a decoder of each value, which took more than half of the processor time of
/// consuming a short message. Times are whole milliseconds since 1970.
struct BodyDecoder: Decoder, SingleValueDecodingContainer {
    /// The limits of a body, which is of a limited size; of repeated names the first counts.
    static let limits = JSONLimits(maxDepth: 128, allowsRepeatedNames: true)

    let value: JSONValue
    /// The keys around the value but for its own, which is joined to them only for an error or for values within.
    private let outerPath: [any CodingKey]
    private let key: (any CodingKey)?

    var codingPath: [any CodingKey] { key.map { outerPath + [$0] } ?? outerPath }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    init(_ value: JSONValue, in outerPath: [any CodingKey] = [], at key: (any CodingKey)? = nil) {
        self.value = value
        self.outerPath = outerPath
        self.key = key
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard case .object(let members) = value else { throw mismatch([String: Any].self) }
        return KeyedDecodingContainer(BodyFields<Key>(members, decoder: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard case .array(let elements) = value else { throw mismatch([Any].self) }
        return BodyElements(elements, decoder: self)
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

    func decodeNil() -> Bool { value == .null }

    func decode(_ type: Bool.Type) throws -> Bool {
        guard let truth = value.boolean else { throw mismatch(type) }
        return truth
    }

    func decode(_ type: String.Type) throws -> String {
        guard let text = value.string else { throw mismatch(type) }
        return text
    }

    func decode(_ type: Double.Type) throws -> Double {
        guard let number = value.double else { throw mismatch(type) }
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
        guard case .object(let members) = value else { throw mismatch([String: Any].self) }
        var texts = [String: String](minimumCapacity: members.count)
        for member in members where texts[member.name] == nil {
            guard let text = member.value.string else {
                throw BodyDecoder(member.value, in: codingPath, at: Member(stringValue: member.name)).mismatch(String.self)
            }
            texts[member.name] = text
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
        let number: Number? =
            switch value {
            case .integer(let integer): Number(exactly: integer)
            // A number with a fraction of zero or an exponent is whole too.
            case .number(let spelling): Number(spelling) ?? Double(spelling).flatMap(Number.init(exactly:))
            default: throw mismatch(Number.self)
            }
        guard let number else { throw corrupted("a number out of range") }
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
        let context = DecodingError.Context(codingPath: codingPath, debugDescription: "found another kind of value")
        return value == .null ? .valueNotFound(type, context) : .typeMismatch(type, context)
    }
}
