/// A JSON value that keeps the order of an object's members and the spelling of its numbers.
public enum JSONValue: Sendable, Equatable {
    /// `null`.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// A number without fraction and exponent that fits an `Int`.
    case integer(Int)
    /// Any other number, as it is spelled.
    case number(String)
    /// A string, decoded.
    case string(String)
    /// A string over ``JSONLimits/maxStringBytes``: the bytes of the text between its quotes, neither copied nor checked.
    case slice(ArraySlice<UInt8>)
    /// An array.
    case array([JSONValue])
    /// The members of an object, in their order.
    case object([Member])

    /// A name and its value.
    public struct Member: Sendable, Equatable {
        /// The name, decoded.
        public let name: String
        /// The value.
        public var value: JSONValue

        /// Creates a member.
        public init(_ name: String, _ value: JSONValue) {
            self.name = name
            self.value = value
        }
    }

    /// An object of the members that have a value.
    public static func members(_ members: (String, JSONValue?)...) -> JSONValue {
        .object(members.compactMap { name, value in value.map { Member(name, $0) } })
    }
}

extension JSONValue {
    /// The member of that name; nil without such a member. Setting nil removes the member; setting a member of a value that is not an
    /// object has no effect.
    public subscript(name: String) -> JSONValue? {
        get { members?.first { $0.name == name }?.value }
        set {
            guard case .object(var members) = self else { return }
            // Releases the members, so that they are changed in place.
            self = .null
            let index = members.firstIndex { $0.name == name }
            switch (index, newValue) {
            case (let index?, let value?): members[index].value = value
            case (let index?, nil): members.remove(at: index)
            case (nil, let value?): members.append(Member(name, value))
            case (nil, nil): break
            }
            self = .object(members)
        }
    }

    /// The element at that position, or nil when this is no array or is shorter.
    public subscript(index: Int) -> JSONValue? {
        guard let elements, elements.indices.contains(index) else { return nil }
        return elements[index]
    }

    /// Returns the member of a name in lowerCamelCase or in snake_case: protocol buffers accept and send both.
    public func either(_ name: String) -> JSONValue? { self[name] ?? self[Self.snakeCase(name)] }

    /// Returns a name in lowerCamelCase as snake_case.
    public static func snakeCase(_ name: String) -> String {
        name.reduce(into: "") { $0 += $1.isUppercase ? "_" + $1.lowercased() : String($1) }
    }

    /// The text of a string, nil for anything else.
    public var string: String? {
        guard case .string(let text) = self else { return nil }
        return text
    }

    /// The value of a whole number, also of one with a decimal point or an exponent; nil for anything else.
    public var integer: Int? {
        switch self {
        case .integer(let value): value
        case .number(let spelling): Self.integer(spelledAs: spelling)
        default: nil
        }
    }

    /// The value of a spelling with a decimal point or an exponent; nil when it is not a whole number.
    static func integer(spelledAs spelling: String) -> Int? { Double(spelling).flatMap { Int(exactly: $0) } }

    /// The value of a number, nil for anything else.
    public var double: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .number(let spelling): Double(spelling)
        default: nil
        }
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
    public var members: [Member]? {
        guard case .object(let members) = self else { return nil }
        return members
    }

    /// The members of an object whose values are strings, empty for anything else.
    public var strings: [String: String] {
        Dictionary((members ?? []).compactMap { member in member.value.string.map { (member.name, $0) } }) { $1 }
    }

    /// Calls `body` with the bytes of a string, which are copied only if they have escapes, such as `\/` in base64.
    ///
    /// Returns nil for anything but a string, and for one with a bad escape.
    public func withUTF8<Result>(_ body: (UnsafeRawBufferPointer) -> Result?) -> Result? {
        switch self {
        case .string(var text): text.withUTF8 { body(UnsafeRawBufferPointer($0)) }
        case .slice(let bytes) where bytes.contains(UInt8(ascii: "\\")):
            (try? JSONString.unescape(bytes)).flatMap { $0.withUnsafeBytes(body) }
        case .slice(let bytes): bytes.withUnsafeBytes(body)
        default: nil
        }
    }
}

extension JSONValue: ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral, ExpressibleByNilLiteral
{
    /// Creates a string; an interpolation is one string, too.
    public init(stringLiteral value: String) { self = .string(value) }
    /// Creates a whole number.
    public init(integerLiteral value: Int) { self = .integer(value) }
    /// Creates `true` or `false`.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// Creates an array of the elements.
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    /// Creates an object with the members in the order of the literal; a name that is there twice stays twice.
    public init(dictionaryLiteral elements: (String, JSONValue)...) { self = .object(elements.map { Member($0, $1) }) }
    /// Creates `null`, not the absence of a value: an optional `JSONValue?` that is assigned `nil` is absent.
    public init(nilLiteral: ()) { self = .null }
}
