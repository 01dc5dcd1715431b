internal import JSON

/// Values as a client sends or gets them, made of the schemas and of the notes of their members.
enum SchemaExample {
    /// Returns a value that a schema allows.
    ///
    /// - Parameters:
    ///   - operation: The id of the request whose bodies have it.
    ///   - name: The member that it is of, empty for a whole body; and the one that this is within.
    static func value(of schema: JSONValue, in operation: String, name: String = "", under parent: String = "") -> JSONValue {
        if let reference = schema["$ref"]?.string?.split(separator: "/").last {
            return value(of: OpenAPIDocument.named(String(reference)), in: String(reference), name: name, under: parent)
        }
        if let constant = schema["const"] { return constant }
        if let first = schema["enum"]?.elements?.first { return first }
        if let example = APIProperty.note(of: name, under: parent, in: operation)?.example { return example }
        if let alternative = schema["anyOf"]?.elements?.first { return value(of: alternative, in: operation, name: name, under: parent) }
        switch schema["type"]?.string ?? schema["type"]?.elements?.first?.string {
        case "object" where schema["properties"] != nil:
            return .object(
                (schema["properties"]?.members ?? []).map {
                    .init($0.name, value(of: $0.value, in: operation, name: $0.name, under: name))
                })
        case "object": return schema["type"]?.elements == nil ? .object([]) : .null
        case "array":
            let item = value(of: schema["items"] ?? .null, in: operation, under: name)
            return .array(Array(repeating: item, count: max(1, schema["minItems"]?.integer ?? 1)))
        case "integer": return .integer(max(1, schema["minimum"]?.integer ?? 1))
        case "boolean": return true
        default: return text(of: schema["format"]?.string)
        }
    }

    private static func text(of format: String?) -> JSONValue {
        switch format {
        case "uuid": "3f6c1a9e-5d1b-4a0e-8f7c-2b9d4e6a8c10"
        case "date-time": "2025-10-27T10:00:00Z"
        default: "…"
        }
    }
}
