import Foundation

/// A JSON value whose members can be read without declaring a type for every answer.
public enum JSONAnswer: Sendable, Decodable, Equatable {
    case object([String: JSONAnswer]), array([JSONAnswer]), text(String), number(Double), bool(Bool), null

    /// Reads any JSON value; numbers become `Double`.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode(String.self) {
            self = .text(value)
        } else if let value = try? container.decode([JSONAnswer].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: JSONAnswer].self))
        }
    }

    /// The member of an object by its name; ``null`` without such a member, or when this is no object.
    public subscript(_ key: String) -> JSONAnswer {
        if case .object(let members) = self { return members[key] ?? .null }
        return .null
    }
    /// The value of a string; nil for anything else.
    public var text: String? { if case .text(let value) = self { value } else { nil } }
    /// The value of a number; nil for anything else.
    public var number: Double? { if case .number(let value) = self { value } else { nil } }
    /// The elements of an array; empty for anything else.
    public var elements: [JSONAnswer] { if case .array(let values) = self { values } else { [] } }

    /// Parses JSON in UTF-8; ``null`` when it is invalid.
    public static func parse(_ bytes: [UInt8]) -> JSONAnswer {
        (try? JSONDecoder().decode(JSONAnswer.self, from: Data(bytes))) ?? .null
    }
}
