import FoundationEssentials
internal import JSON

/// Encodes an event, or one value in it, as the values of a body: keys sorted, times as whole milliseconds since 1970.
///
/// Foundation's encoder makes a dictionary of each object and an encoder of each value, which took two thirds of the processor time of
/// publishing a short message.
final class BodyEncoder: Encoder, SingleValueEncodingContainer {
    /// A value within an object or an array: complete, or still with its encoder.
    enum Part {
        case value(JSONValue)
        case encoder(BodyEncoder)

        fileprivate var json: JSONValue {
            switch self {
            case .value(let value): value
            case .encoder(let encoder): encoder.json
            }
        }
    }

    private enum Contents {
        case value(JSONValue)
        case object([(name: String, part: Part)])
        case array([Part])
    }

    private var contents: Contents?
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    init(at codingPath: [any CodingKey] = []) {
        self.codingPath = codingPath
    }

    /// Returns what was encoded; an empty object if that was nothing.
    var json: JSONValue {
        switch contents {
        case nil: .object([])
        case .value(let value): value
        case .array(let parts): .array(parts.map(\.json))
        case .object(let members):
            .object(members.map { JSONValue.Member($0.name, $0.part.json) }.sorted { $0.name < $1.name })
        }
    }

    /// The number of elements of an array.
    var elementCount: Int {
        guard case .array(let parts) = contents else { return 0 }
        return parts.count
    }

    /// Adds a member to an object.
    func add(_ name: String, _ part: Part) {
        guard case .object(var members) = contents else { preconditionFailure("members are added to an object") }
        // Releases the members, so that they are changed in place.
        contents = nil
        members.append((name, part))
        contents = .object(members)
    }

    /// Adds an element to an array.
    func add(_ part: Part) {
        guard case .array(var parts) = contents else { preconditionFailure("elements are added to an array") }
        contents = nil
        parts.append(part)
        contents = .array(parts)
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        // A type may ask for its container again.
        if case .object = contents {} else { contents = .object([]) }
        return KeyedEncodingContainer(BodyFieldsEncoder<Key>(encoder: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        if case .array = contents {} else { contents = .array([]) }
        return BodyElementsEncoder(encoder: self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }

    func encodeNil() { contents = .value(.null) }
    func encode(_ value: Bool) { contents = .value(.bool(value)) }
    func encode(_ value: String) { contents = .value(.string(value)) }
    func encode(_ value: Double) throws { contents = .value(try number(value)) }
    func encode(_ value: Float) throws { contents = .value(try number(Double(value))) }
    func encode(_ value: Int) { contents = .value(integer(value)) }
    func encode(_ value: Int8) { contents = .value(integer(value)) }
    func encode(_ value: Int16) { contents = .value(integer(value)) }
    func encode(_ value: Int32) { contents = .value(integer(value)) }
    func encode(_ value: Int64) { contents = .value(integer(value)) }
    func encode(_ value: UInt) { contents = .value(integer(value)) }
    func encode(_ value: UInt8) { contents = .value(integer(value)) }
    func encode(_ value: UInt16) { contents = .value(integer(value)) }
    func encode(_ value: UInt32) { contents = .value(integer(value)) }
    func encode(_ value: UInt64) { contents = .value(integer(value)) }

    func encode<Value: Encodable>(_ value: Value) throws {
        if Value.self == Date.self, let date = value as? Date {
            contents = .value(integer(date.millisecondsSince1970))
        } else if Value.self == [String: String].self, let texts = value as? [String: String] {
            contents = .object(texts.map { ($0, .value(.string($1))) })
        } else {
            try value.encode(to: self)
        }
    }

    /// Returns an encoder for a value below this one.
    func nested(_ key: any CodingKey) -> BodyEncoder { BodyEncoder(at: codingPath + [key]) }

    private func integer(_ value: some BinaryInteger) -> JSONValue { Int(exactly: value).map(JSONValue.integer) ?? .number("\(value)") }

    private func number(_ value: Double) throws -> JSONValue {
        guard value.isFinite else {
            throw EncodingError.invalidValue(value, EncodingError.Context(codingPath: codingPath, debugDescription: "not finite"))
        }
        return Int(exactly: value).map(JSONValue.integer) ?? .number(value.description)
    }
}
