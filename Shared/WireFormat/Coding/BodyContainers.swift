internal import JSON

/// The members of an object of a body.
struct BodyFields<Key: CodingKey>: KeyedDecodingContainerProtocol {
    private let members: [JSONValue.Member]
    private let decoder: BodyDecoder

    init(_ members: [JSONValue.Member], decoder: BodyDecoder) {
        self.members = members
        self.decoder = decoder
    }

    var codingPath: [any CodingKey] { decoder.codingPath }
    var allKeys: [Key] { members.compactMap { Key(stringValue: $0.name) } }

    func contains(_ key: Key) -> Bool { value(key.stringValue) != nil }

    /// The first member of a name.
    private func value(_ name: String) -> JSONValue? { members.first { $0.name == name }?.value }

    private func member(_ key: Key) throws -> BodyDecoder {
        guard let value = value(key.stringValue) else {
            throw DecodingError.keyNotFound(key, DecodingError.Context(codingPath: codingPath, debugDescription: "there is no such key"))
        }
        return BodyDecoder(value, in: codingPath, at: key)
    }

    func decode(_ type: String.Type, forKey key: Key) throws -> String {
        // Most members are texts.
        if case .string(let text) = value(key.stringValue) { return text }
        return try member(key).decode(type)
    }

    func decodeNil(forKey key: Key) throws -> Bool { try member(key).decodeNil() }
    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try member(key).decode(type) }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try member(key).decode(type) }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try member(key).decode(type) }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try member(key).decode(type) }
    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try member(key).decode(type) }
    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try member(key).decode(type) }
    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try member(key).decode(type) }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try member(key).decode(type) }
    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try member(key).decode(type) }
    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try member(key).decode(type) }
    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try member(key).decode(type) }
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try member(key).decode(type) }
    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try member(key).decode(type) }
    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value { try member(key).decode(type) }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type, forKey key: Key) throws -> KeyedDecodingContainer<Nested> {
        try member(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer { try member(key).unkeyedContainer() }

    func superDecoder() throws -> any Decoder { decoder }

    func superDecoder(forKey key: Key) throws -> any Decoder { try member(key) }
}

/// The elements of an array of a body.
struct BodyElements: UnkeyedDecodingContainer {
    private let elements: [JSONValue]
    let codingPath: [any CodingKey]
    private(set) var currentIndex = 0

    init(_ elements: [JSONValue], decoder: BodyDecoder) {
        self.elements = elements
        codingPath = decoder.codingPath
    }

    var count: Int? { elements.count }
    var isAtEnd: Bool { currentIndex == elements.count }

    /// Decodes the next element, and goes on to the one after it when that succeeds.
    private mutating func element<Value>(_ type: any Any.Type, _ decode: (BodyDecoder) throws -> Value) throws -> Value {
        guard !isAtEnd else {
            throw DecodingError.valueNotFound(
                type,
                DecodingError.Context(codingPath: codingPath + [BodyElementKey(currentIndex)], debugDescription: "the array has ended"))
        }
        let value = try decode(BodyDecoder(elements[currentIndex], in: codingPath, at: BodyElementKey(currentIndex)))
        currentIndex += 1
        return value
    }

    mutating func decodeNil() throws -> Bool {
        guard !isAtEnd, elements[currentIndex] == .null else { return false }
        return try element(Bool.self) { $0.decodeNil() }
    }

    mutating func decode(_ type: Bool.Type) throws -> Bool { try element(type) { try $0.decode(type) } }
    mutating func decode(_ type: String.Type) throws -> String { try element(type) { try $0.decode(type) } }
    mutating func decode(_ type: Double.Type) throws -> Double { try element(type) { try $0.decode(type) } }
    mutating func decode(_ type: Float.Type) throws -> Float { try element(type) { try $0.decode(type) } }
    mutating func decode(_ type: Int.Type) throws -> Int { try element(type) { try $0.decode(type) } }
    mutating func decode(_ type: Int8.Type) throws -> Int8 { try element(type) { try $0.decode(type) } }
    mutating func decode(_ type: Int16.Type) throws -> Int16 { try element(type) { try $0.decode(type) } }
    mutating func decode(_ type: Int32.Type) throws -> Int32 { try element(type) { try $0.decode(type) } }
    mutating func decode(_ type: Int64.Type) throws -> Int64 { try element(type) { try $0.decode(type) } }
    mutating func decode(_ type: UInt.Type) throws -> UInt { try element(type) { try $0.decode(type) } }
    mutating func decode(_ type: UInt8.Type) throws -> UInt8 { try element(type) { try $0.decode(type) } }
    mutating func decode(_ type: UInt16.Type) throws -> UInt16 { try element(type) { try $0.decode(type) } }
    mutating func decode(_ type: UInt32.Type) throws -> UInt32 { try element(type) { try $0.decode(type) } }
    mutating func decode(_ type: UInt64.Type) throws -> UInt64 { try element(type) { try $0.decode(type) } }
    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try element(type) { try $0.decode(type) } }

    mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) throws -> KeyedDecodingContainer<Nested> {
        try element(Nested.self) { try $0.container(keyedBy: type) }
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try element(Self.self) { try $0.unkeyedContainer() }
    }

    mutating func superDecoder() throws -> any Decoder { try element(BodyDecoder.self) { $0 } }
}
