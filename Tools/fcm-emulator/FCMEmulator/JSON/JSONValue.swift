/// A JSON value that keeps the order of an object's members and the spelling of its numbers.
///
/// FCM names the position of a bad member (`message.data[0].value`) and quotes the bad value as it was written; the decoders of
/// the standard library have lost both by the time they find a wrong type.
public enum JSONValue: Sendable, Equatable {
    /// `null`.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// A number, spelled as it was received.
    case number(String)
    /// A string, unescaped.
    case string(String)
    /// An array.
    case array([JSONValue])
    /// An object, its members in the order they were received.
    case object(JSONObject)

    /// The member of that name, or nil when this is no object or has no such member.
    public subscript(name: String) -> JSONValue? {
        guard case .object(let object) = self else { return nil }
        return object[name]
    }

    /// The element at that position, or nil when this is no array or is shorter.
    public subscript(index: Int) -> JSONValue? {
        guard case .array(let elements) = self, elements.indices.contains(index) else { return nil }
        return elements[index]
    }

    /// The text of a string, nil for anything else.
    public var string: String? {
        guard case .string(let text) = self else { return nil }
        return text
    }

    /// The value of a whole number, nil for anything else.
    public var integer: Int? {
        guard case .number(let spelling) = self else { return nil }
        if let value = Int(spelling) { return value }
        guard let value = Double(spelling) else { return nil }
        return Int(exactly: value)
    }

    /// The value of a boolean, nil for anything else.
    public var boolean: Bool? {
        guard case .bool(let value) = self else { return nil }
        return value
    }

    /// The elements of an array, nil for anything else.
    public var elements: [JSONValue]? {
        guard case .array(let elements) = self else { return nil }
        return elements
    }

    /// The members of an object, nil for anything else.
    public var members: [JSONObject.Member]? {
        guard case .object(let object) = self else { return nil }
        return object.members
    }

    /// The members of an object whose values are strings, empty for anything else.
    public var strings: [String: String] {
        var strings: [String: String] = [:]
        for member in members ?? [] {
            if case .string(let text) = member.value { strings[member.name] = text }
        }
        return strings
    }
}

/// The members of a JSON object, in order; a repeated name keeps its last value, as protocol buffers do.
public struct JSONObject: Sendable, Equatable {
    /// A name and its value.
    public struct Member: Sendable, Equatable {
        /// The name, unescaped.
        public let name: String
        /// The value.
        public var value: JSONValue
    }

    /// The members, in order.
    public private(set) var members: [Member] = []

    /// An object without members.
    public init() {}

    /// The value of that name; setting nil removes it.
    public subscript(name: String) -> JSONValue? {
        get { members.first { $0.name == name }?.value }
        set {
            let index = members.firstIndex { $0.name == name }
            switch (index, newValue) {
            case (let index?, let value?): members[index].value = value
            case (let index?, nil): members.remove(at: index)
            case (nil, let value?): members.append(Member(name: name, value: value))
            case (nil, nil): break
            }
        }
    }

    /// Adds a member without looking for one of the same name: for names known to be distinct.
    mutating func append(_ name: String, _ value: JSONValue) {
        members.append(Member(name: name, value: value))
    }
}

extension JSONValue: ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral, ExpressibleByNilLiteral
{
    public init(stringLiteral value: String) { self = .string(value) }
    public init(integerLiteral value: Int) { self = .number(String(value)) }
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    public init(nilLiteral: ()) { self = .null }

    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        var object = JSONObject()
        for (name, value) in elements { object.append(name, value) }
        self = .object(object)
    }

    /// A whole number.
    public init(_ value: Int) { self = .number(String(value)) }
}
