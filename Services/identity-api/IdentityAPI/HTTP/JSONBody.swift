internal import FoundationEssentials
internal import JSON

/// The members of a request's JSON object. Unknown members are ignored.
struct JSONBody: Sendable {
    /// An object without members.
    static let empty = JSONBody(values: [:])

    private let values: [String: JSONValue]

    private init(values: [String: JSONValue]) { self.values = values }

    /// Parses an object.
    init(parsing bytes: [UInt8]) throws(APIError) {
        let value: JSONValue
        do throws(JSONError) {
            value = try JSONValue(parsing: bytes, limits: .request)
        } catch {
            throw APIError(error, byteCount: bytes.count)
        }
        guard let body = JSONBody(value) else { throw APIError(.invalidRequest, "The body is a JSON object") }
        self = body
    }

    /// Wraps an object; nil for any other value.
    init?(_ value: JSONValue) {
        guard case .object(let members) = value else { return nil }
        values = Dictionary(uniqueKeysWithValues: members.map { ($0.name, $0.value) })
    }

    /// The names of the members.
    var names: Set<String> { Set(values.keys) }

    /// Whether there is a member of this name, even if it is null.
    func has(_ name: String) -> Bool { values[name] != nil }

    /// The text of a member as it was sent; nil if it is missing, null, or has no visible character.
    func text(_ name: String) throws(APIError) -> String? { try values[name].text(of: name) }

    /// The text of a required member, which must show something.
    func requiredText(_ name: String) throws(APIError) -> String {
        guard let text = try text(name) else { throw APIError(.missingField, "A field is missing", field: name) }
        return text
    }

    /// The text of a member that is not prose, without invisible characters around it.
    func word(_ name: String) throws(APIError) -> String? { try text(name)?.trimmed }

    /// The same of a required member.
    func requiredWord(_ name: String) throws(APIError) -> String { try requiredText(name).trimmed }

    /// The text of a member that is not prose. A number in its place counts as the text by which it is spelled.
    func wordOrNumber(_ name: String) throws(APIError) -> String? {
        switch values[name] {
        case .integer(let number): String(number)
        case .number(let spelling): spelling
        default: try word(name)
        }
    }

    /// Whether a member is a whole number.
    func isNumber(_ name: String) -> Bool {
        if case .integer? = values[name] { true } else { false }
    }

    /// The time of a member; nil if it is missing, null or empty.
    ///
    /// - Throws: `invalid_request` with the reason, also for a day or a time of day that no calendar has.
    func instant(_ name: String) throws(APIError) -> Date? {
        guard let text = try word(name) else { return nil }
        do throws(Timestamp.Fault) { return try Timestamp(text).date } catch {
            throw APIError(.invalidRequest, error.message, field: name)
        }
    }

    /// The elements of an array; nil if it is missing, null or an empty text.
    func array(_ name: String) throws(APIError) -> [JSONValue]? {
        switch values[name] {
        case let value where value.isAbsent: return nil
        case .array(let elements): return elements
        default: throw APIError(.invalidRequest, "A field must be an array", field: name)
        }
    }

    /// The members of an object; nil if it is missing, null or an empty text.
    func object(_ name: String) throws(APIError) -> [JSONValue.Member]? {
        switch values[name] {
        case let value where value.isAbsent: return nil
        case .object(let members): return members
        default: throw APIError(.invalidRequest, "A field must be an object", field: name)
        }
    }

    /// The boolean of a member; nil if it is missing, null or an empty text.
    func bool(_ name: String) throws(APIError) -> Bool? { try Flag.read(values[name], field: name) }
}

extension JSONValue? {
    /// Whether there is no value: it is missing, null, or a text without a visible character.
    var isAbsent: Bool {
        switch self {
        case nil, .null: true
        case .string(let text): text.showsNothing
        default: false
        }
    }

    /// The text; nil if it is absent. A NUL, which Postgres cannot store in a text, is refused.
    func text(of field: String) throws(APIError) -> String? {
        switch self {
        case let value where value.isAbsent: return nil
        case .string(let text) where !text.utf8.contains(0): return text
        case .string: throw APIError(.invalidRequest, "A text has a character that no text has", field: field)
        default: throw APIError(.invalidRequest, "A field must be a text", field: field)
        }
    }
}
