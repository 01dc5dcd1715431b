import Foundation

/// JSON that can be looked into without declaring a type for every answer.
public enum JSONValue: Sendable, Decodable, Equatable {
    case object([String: JSONValue]), array([JSONValue]), text(String), number(Double), bool(Bool), null

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
        } else if let value = try? container.decode([JSONValue].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: JSONValue].self))
        }
    }

    public subscript(_ key: String) -> JSONValue {
        if case .object(let members) = self { return members[key] ?? .null }
        return .null
    }
    public var text: String? { if case .text(let value) = self { value } else { nil } }
    public var elements: [JSONValue] { if case .array(let values) = self { values } else { [] } }

    public static func parse(_ bytes: [UInt8]) -> JSONValue {
        (try? JSONDecoder().decode(JSONValue.self, from: Data(bytes))) ?? .null
    }
}
