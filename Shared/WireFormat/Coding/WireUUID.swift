public import FoundationEssentials

/// An id encoded in lower case, as in the HTTP API; Foundation's own coding writes upper case.
@propertyWrapper
public struct WireUUID: Codable, Sendable, Equatable, Hashable {
    public var wrappedValue: UUID

    public init(wrappedValue: UUID) {
        self.wrappedValue = wrappedValue
    }

    public init(from decoder: any Decoder) throws {
        wrappedValue = try UUID(wireText: decoder.singleValueContainer())
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(wrappedValue.wireString)
    }
}

/// A list of ids encoded in lower case.
@propertyWrapper
public struct WireUUIDs: Codable, Sendable, Equatable, Hashable {
    public var wrappedValue: [UUID]

    public init(wrappedValue: [UUID]) {
        self.wrappedValue = wrappedValue
    }

    public init(from decoder: any Decoder) throws {
        var list = try decoder.unkeyedContainer()
        wrappedValue = []
        while !list.isAtEnd { wrappedValue.append(try list.decode(WireUUID.self).wrappedValue) }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(wrappedValue.map(\.wireString))
    }
}

/// Synthesised coding prefers these overloads because they are more specific. They read a text without a decoder of its own for
/// each id and each word, which is half of the cost of a short body.
extension KeyedDecodingContainer {
    func decode(_ type: WireUUID.Type, forKey key: Key) throws -> WireUUID {
        guard let id = UUID(wireBytes: try decode(String.self, forKey: key).utf8) else {
            throw DecodingError.dataCorruptedError(forKey: key, in: self, debugDescription: "not a UUID")
        }
        return WireUUID(wrappedValue: id)
    }

    func decode<Word: RawRepresentable<String> & Decodable>(_ type: Word.Type, forKey key: Key) throws -> Word {
        guard let word = Word(rawValue: try decode(String.self, forKey: key)) else {
            throw DecodingError.dataCorruptedError(forKey: key, in: self, debugDescription: "not a \(type)")
        }
        return word
    }
}

/// As with decoding, without an encoder of its own for each id and each word.
extension KeyedEncodingContainer {
    mutating func encode(_ value: WireUUID, forKey key: Key) throws { try encode(value.wrappedValue.wireString, forKey: key) }

    mutating func encode<Word: RawRepresentable<String> & Encodable>(_ value: Word, forKey key: Key) throws {
        try encode(value.rawValue, forKey: key)
    }
}

extension UUID {
    fileprivate init(wireText container: any SingleValueDecodingContainer) throws {
        guard let id = UUID(wireBytes: try container.decode(String.self).utf8) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a UUID")
        }
        self = id
    }
}
