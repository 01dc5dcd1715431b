internal import JSON

/// Encodes the members of an object of a body.
struct BodyFieldsEncoder<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let encoder: BodyEncoder

    var codingPath: [any CodingKey] { encoder.codingPath }

    private func add(_ value: JSONValue, _ key: Key) { encoder.add(key.stringValue, .value(value)) }

    /// Adds a value that encodes itself.
    private func add(_ key: Key, _ encode: (BodyEncoder) throws -> Void) rethrows {
        let nested = encoder.nested(key)
        try encode(nested)
        encoder.add(key.stringValue, .value(nested.json))
    }

    func encodeNil(forKey key: Key) { add(.null, key) }
    func encode(_ value: Bool, forKey key: Key) { add(.bool(value), key) }
    func encode(_ value: String, forKey key: Key) { add(.string(value), key) }
    func encode(_ value: Int, forKey key: Key) { add(.integer(value), key) }
    func encode(_ value: Double, forKey key: Key) throws { try add(key) { try $0.encode(value) } }
    func encode(_ value: Float, forKey key: Key) throws { try add(key) { try $0.encode(value) } }
    func encode(_ value: Int8, forKey key: Key) { add(key) { $0.encode(value) } }
    func encode(_ value: Int16, forKey key: Key) { add(key) { $0.encode(value) } }
    func encode(_ value: Int32, forKey key: Key) { add(key) { $0.encode(value) } }
    func encode(_ value: Int64, forKey key: Key) { add(key) { $0.encode(value) } }
    func encode(_ value: UInt, forKey key: Key) { add(key) { $0.encode(value) } }
    func encode(_ value: UInt8, forKey key: Key) { add(key) { $0.encode(value) } }
    func encode(_ value: UInt16, forKey key: Key) { add(key) { $0.encode(value) } }
    func encode(_ value: UInt32, forKey key: Key) { add(key) { $0.encode(value) } }
    func encode(_ value: UInt64, forKey key: Key) { add(key) { $0.encode(value) } }
    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws { try add(key) { try $0.encode(value) } }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type, forKey key: Key) -> KeyedEncodingContainer<Nested> {
        superEncoder(forKey: key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { superEncoder(forKey: key).unkeyedContainer() }

    func superEncoder() -> any Encoder { encoder }

    func superEncoder(forKey key: Key) -> any Encoder {
        let nested = encoder.nested(key)
        encoder.add(key.stringValue, .encoder(nested))
        return nested
    }
}

/// Encodes the elements of an array of a body.
struct BodyElementsEncoder: UnkeyedEncodingContainer {
    let encoder: BodyEncoder

    var codingPath: [any CodingKey] { encoder.codingPath }
    var count: Int { encoder.elementCount }

    /// Adds an element that encodes itself.
    private func add(_ encode: (BodyEncoder) throws -> Void) rethrows {
        let nested = encoder.nested(BodyElementKey(count))
        try encode(nested)
        encoder.add(.value(nested.json))
    }

    func encodeNil() { encoder.add(.value(.null)) }
    func encode(_ value: Bool) { encoder.add(.value(.bool(value))) }
    func encode(_ value: String) { encoder.add(.value(.string(value))) }
    func encode(_ value: Int) { encoder.add(.value(.integer(value))) }
    func encode(_ value: Double) throws { try add { try $0.encode(value) } }
    func encode(_ value: Float) throws { try add { try $0.encode(value) } }
    func encode(_ value: Int8) { add { $0.encode(value) } }
    func encode(_ value: Int16) { add { $0.encode(value) } }
    func encode(_ value: Int32) { add { $0.encode(value) } }
    func encode(_ value: Int64) { add { $0.encode(value) } }
    func encode(_ value: UInt) { add { $0.encode(value) } }
    func encode(_ value: UInt8) { add { $0.encode(value) } }
    func encode(_ value: UInt16) { add { $0.encode(value) } }
    func encode(_ value: UInt32) { add { $0.encode(value) } }
    func encode(_ value: UInt64) { add { $0.encode(value) } }
    func encode<Value: Encodable>(_ value: Value) throws { try add { try $0.encode(value) } }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
        superEncoder().container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { superEncoder().unkeyedContainer() }

    func superEncoder() -> any Encoder {
        let nested = encoder.nested(BodyElementKey(count))
        encoder.add(.encoder(nested))
        return nested
    }
}

/// The place of an element in an array of a body.
struct BodyElementKey: CodingKey {
    let intValue: Int?
    var stringValue: String { "\(intValue ?? 0)" }

    init(_ index: Int) { intValue = index }
    init?(intValue: Int) { self.intValue = intValue }
    init?(stringValue: String) { nil }
}
