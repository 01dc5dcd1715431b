public import FoundationEssentials

/// An id that is written in lower case; Foundation's own coding writes upper case, which the HTTP API does not.
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

/// A list of ids that are written in lower case.
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

/// Synthesised coding calls these because they say more than the general ones: a text is read without a decoder of its own for
/// each id and each word, which is half of what a short body costs.
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

extension UUID {
    fileprivate init(wireText container: any SingleValueDecodingContainer) throws {
        guard let id = UUID(wireBytes: try container.decode(String.self).utf8) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a UUID")
        }
        self = id
    }
}
