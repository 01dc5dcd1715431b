/// The members of an object of a body.
struct BodyFields<Key: CodingKey>: KeyedDecodingContainerProtocol {
    private let decoder: BodyDecoder
    let codingPath: [any CodingKey]

    init(decoder: BodyDecoder) {
        self.decoder = decoder
        codingPath = decoder.codingPath
    }

    var allKeys: [Key] {
        var keys: [Key] = []
        var index = decoder.index + 1
        let nodes = decoder.tape.nodes
        while index < nodes[decoder.index].end {
            if let key = Key(stringValue: decoder.tape.text(of: nodes[index])) { keys.append(key) }
            index = Int(nodes[index + 1].end)
        }
        return keys
    }

    func contains(_ key: Key) -> Bool { decoder.tape.value(of: key.stringValue, in: decoder.index) != nil }

    private func member(_ key: Key) throws -> BodyDecoder {
        guard let value = decoder.tape.value(of: key.stringValue, in: decoder.index) else {
            throw DecodingError.keyNotFound(key, DecodingError.Context(codingPath: codingPath, debugDescription: "there is no such key"))
        }
        return BodyDecoder(decoder.tape, index: value, in: codingPath, at: key)
    }

    func decode(_ type: String.Type, forKey key: Key) throws -> String {
        // Most members are texts.
        if let value = decoder.tape.value(of: key.stringValue, in: decoder.index), let text = decoder.tape.text(at: value) { return text }
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
    /// The place of an element.
    private struct Place: CodingKey {
        let intValue: Int?
        var stringValue: String { "\(intValue ?? 0)" }

        init(_ index: Int) { intValue = index }
        init?(intValue: Int) { self.intValue = intValue }
        init?(stringValue: String) { nil }
    }

    private let decoder: BodyDecoder
    let codingPath: [any CodingKey]
    /// The node of the next element.
    private var next: Int
    private(set) var currentIndex = 0

    init(decoder: BodyDecoder) {
        self.decoder = decoder
        codingPath = decoder.codingPath
        next = decoder.index + 1
    }

    var count: Int? { Int(decoder.tape.nodes[decoder.index].count) }
    var isAtEnd: Bool { next >= Int(decoder.tape.nodes[decoder.index].end) }

    /// Decodes the next element, and goes on to the one after it when that succeeds.
    private mutating func element<Value>(_ type: any Any.Type, _ decode: (BodyDecoder) throws -> Value) throws -> Value {
        guard !isAtEnd else {
            throw DecodingError.valueNotFound(
                type, DecodingError.Context(codingPath: codingPath + [Place(currentIndex)], debugDescription: "the array has ended"))
        }
        let value = try decode(BodyDecoder(decoder.tape, index: next, in: codingPath, at: Place(currentIndex)))
        next = Int(decoder.tape.nodes[next].end)
        currentIndex += 1
        return value
    }

    mutating func decodeNil() throws -> Bool {
        guard !isAtEnd, decoder.tape.nodes[next].kind == .null else { return false }
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
