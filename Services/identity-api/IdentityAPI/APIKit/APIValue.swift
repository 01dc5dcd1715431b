internal import Accounts
internal import FoundationEssentials
internal import JSON
internal import WireFormat

/// A value in a reply, with its schema.
protocol APIValue: Sendable {
    static var schema: JSONSchema { get }
    var json: JSONValue { get }
}

extension String: APIValue {
    static var schema: JSONSchema { .text }
    var json: JSONValue { .string(self) }
}

extension Bool: APIValue {
    static var schema: JSONSchema { .boolean }
    var json: JSONValue { .bool(self) }
}

/// A number of things, or of seconds.
extension Int: APIValue {
    static var schema: JSONSchema { .count }
    var json: JSONValue { .integer(self) }
}

extension UUID: APIValue {
    static var schema: JSONSchema { .uuid }
    var json: JSONValue { .string(wireString) }
}

extension Date: APIValue {
    static var schema: JSONSchema { .instant }
    var json: JSONValue { .string(Answer.timestamp(self)) }
}

extension ListCursor: APIValue {
    static var schema: JSONSchema { .text }
    var json: JSONValue { .string(text) }
}

/// The value, or null.
extension Optional: APIValue where Wrapped: APIValue {
    static var schema: JSONSchema { Wrapped.schema.orNull }
    var json: JSONValue { map(\.json) ?? .null }
}

extension Array: APIValue where Element: APIValue {
    static var schema: JSONSchema { .array(of: Element.schema) }
    var json: JSONValue { .array(map(\.json)) }
}

/// Numbers of things by their names.
extension [String: Int]: APIValue {
    static var schema: JSONSchema { .map(of: .count) }
    var json: JSONValue { .object(sorted { $0.key < $1.key }.map { JSONValue.Member($0.key, .integer($0.value)) }) }
}

/// One of the words of an enumeration.
protocol APIWord: APIValue, RawRepresentable<String>, CaseIterable {}

extension APIWord {
    static var schema: JSONSchema { .one(of: Self.self) }
    var json: JSONValue { .string(rawValue) }
}
