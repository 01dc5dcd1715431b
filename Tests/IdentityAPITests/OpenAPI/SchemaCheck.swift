import Foundation
import JSON

@testable import IdentityAPI

/// Checks values against schemas of the OpenAPI document.
///
/// Stricter than JSON Schema in one point: a member that an object's schema does not name is a fault, so that no answer has what the
/// document does not say.
enum SchemaCheck {
    private static let components = OpenAPIDocument.json["components"]?["schemas"]

    /// Returns what is wrong with a value, by its place; nothing for a valid one.
    static func faults(of value: JSONValue, _ schema: JSONValue, at place: String = "$") -> [String] {
        // Other keywords, such as a pattern, concern the other types.
        if value == .null, schema["type"]?.elements?.contains("null") == true { return [] }
        return (schema.members ?? []).flatMap { keyword -> [String] in
            switch keyword.name {
            case "$ref": return faults(of: value, resolve(keyword.value), at: place)
            case "anyOf":
                let found = (keyword.value.elements ?? []).map { faults(of: value, $0, at: place) }
                return found.contains([]) ? [] : ["\(place): none of the alternatives: \(found.joined().joined(separator: "; "))"]
            case "properties": return membersFaults(of: value, schema, at: place)
            case "additionalProperties":
                return (value.members ?? []).flatMap { faults(of: $0.value, keyword.value, at: "\(place).\($0.name)") }
            case "items":
                return (value.elements ?? []).enumerated().flatMap { faults(of: $1, keyword.value, at: "\(place)[\($0)]") }
            case "required":
                let names = (keyword.value.elements ?? []).compactMap(\.string)
                return names.filter { value[$0] == nil }.map { "\(place).\($0) is missing" }
            case "description", "contentEncoding", "contentMediaType", "example": return []
            default: return holds(keyword, of: value) ? [] : ["\(place): not of \(keyword.name) \(keyword.value.text)"]
            }
        }
    }

    /// Returns the schema of a reference.
    static func resolve(_ reference: JSONValue) -> JSONValue {
        let name = reference.string?.split(separator: "/").last.map(String.init) ?? ""
        return components?[name] ?? ["enum": []]
    }

    private static func membersFaults(of value: JSONValue, _ schema: JSONValue, at place: String) -> [String] {
        (value.members ?? []).flatMap { member -> [String] in
            if let known = schema["properties"]?[member.name] {
                return faults(of: member.value, known, at: "\(place).\(member.name)")
            }
            // A schema without a type only narrows another one.
            return schema["type"] == nil || schema["additionalProperties"] != nil ? [] : ["\(place).\(member.name) is not described"]
        }
    }

    /// Whether a value obeys a keyword that concerns it alone; false for unknown keywords.
    private static func holds(_ keyword: JSONValue.Member, of value: JSONValue) -> Bool {
        let limit = keyword.value
        return switch keyword.name {
        case "type": (limit.elements ?? [limit]).contains { isOfType(value, $0.string ?? "") }
        case "const": value == limit
        case "enum": limit.elements?.contains(value) == true
        case "minimum": (value.double ?? .infinity) >= (limit.double ?? .infinity)
        case "maximum": (value.double ?? -.infinity) <= (limit.double ?? -.infinity)
        case "minLength": (value.string?.unicodeScalars.count ?? .max) >= (limit.integer ?? .max)
        case "maxLength": (value.string?.unicodeScalars.count ?? 0) <= (limit.integer ?? 0)
        case "minItems": (value.elements?.count ?? .max) >= (limit.integer ?? .max)
        case "maxItems": (value.elements?.count ?? 0) <= (limit.integer ?? 0)
        case "pattern": value.string?.range(of: limit.string ?? "$.", options: .regularExpression) != nil
        case "format": isOfFormat(value, limit.string ?? "")
        default: false
        }
    }

    private static func isOfType(_ value: JSONValue, _ type: String) -> Bool {
        switch (type, value) {
        case ("object", .object), ("array", .array), ("string", .string), ("string", .slice), ("boolean", .bool), ("null", .null),
            ("integer", .integer):
            true
        default: false
        }
    }

    private static func isOfFormat(_ value: JSONValue, _ format: String) -> Bool {
        switch format {
        case "uuid": value.string.flatMap(UUID.init(uuidString:)) != nil
        case "date-time": value.string.flatMap { try? Date($0, strategy: .iso8601) } != nil
        default: false
        }
    }
}
