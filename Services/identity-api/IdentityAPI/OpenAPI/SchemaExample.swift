internal import JSON

/// Values as a client sends or gets them, made of the schemas and of the notes of their members.
enum SchemaExample {
    /// Returns a value that a schema allows.
    ///
    /// - Parameters:
    ///   - operation: The id of the request with this body.
    ///   - name: The member that the value belongs to, empty for a whole body; and the member around that one.
    ///   - isWhole: Whether it has the optional members too. Only a request's example has all of them: the optional members of a response
    ///     belong to different cases.
    static func value(
        of schema: JSONValue, in operation: String, name: String = "", under parent: String = "", isWhole: Bool = true
    ) -> JSONValue {
        if let reference = schema["$ref"]?.string?.split(separator: "/").last {
            let named = OpenAPIDocument.named(String(reference))
            return value(of: named, in: String(reference), name: name, under: parent, isWhole: isWhole)
        }
        if let constant = schema["const"] { return constant }
        let choices = schema["enum"]?.elements
        if let example = APIProperty.note(of: name, under: parent, in: operation)?.example, choices?.contains(example) != false {
            return example
        }
        if let first = choices?.first { return first }
        if let alternative = schema["anyOf"]?.elements?.first {
            return value(of: alternative, in: operation, name: name, under: parent, isWhole: isWhole)
        }
        switch schema["type"]?.string ?? schema["type"]?.elements?.first?.string {
        case "object" where schema["properties"] != nil:
            let required = schema["required"]?.elements ?? []
            // The elements of an array are within the array's member.
            let outer = name.isEmpty ? parent : name
            let members = (schema["properties"]?.members ?? []).filter { isWhole || required.contains(.string($0.name)) }
            return .object(
                members.map { .init($0.name, value(of: $0.value, in: operation, name: $0.name, under: outer, isWhole: isWhole)) })
        case "object": return schema["type"]?.elements == nil ? .object([]) : .null
        case "array":
            let item = value(of: schema["items"] ?? .null, in: operation, under: name, isWhole: isWhole)
            return .array(Array(repeating: item, count: max(1, schema["minItems"]?.integer ?? 1)))
        case "integer": return .integer(max(1, schema["minimum"]?.integer ?? 1))
        case "boolean": return true
        default: return text(of: schema["format"]?.string)
        }
    }

    /// Returns a value with the members of another one in place of its own, and beside them.
    static func value(_ value: JSONValue, with other: JSONValue?) -> JSONValue {
        guard let other else { return value }
        guard var members = value.members, let changes = other.members else { return other }
        for change in changes {
            if let index = members.firstIndex(where: { $0.name == change.name }) {
                members[index].value = Self.value(members[index].value, with: change.value)
            } else {
                members.append(change)
            }
        }
        return .object(members)
    }

    private static func text(of format: String?) -> JSONValue {
        switch format {
        case "uuid": "3f6c1a9e-5d1b-4a0e-8f7c-2b9d4e6a8c10"
        case "date-time": "2025-10-27T10:00:00Z"
        default: "…"
        }
    }
}
