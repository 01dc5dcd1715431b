internal import JSON

/// Names the objects of all bodies as components of the document, so that generated clients have names for their types, and describes their
/// members.
struct SchemaComponents {
    private(set) var members: [JSONValue.Member] = []
    /// The name of each schema, by its text: equal ones share a name.
    private var names: [String: String] = [:]

    /// Writes a request with references in place of its schemas, and with examples.
    mutating func write(_ operation: APIOperation) -> JSONValue {
        var json = operation.json
        let base = operation.id.prefix(1).uppercased() + operation.id.dropFirst()
        if var body = json["requestBody"] {
            body["content"] = media(body["content"], of: operation) { type in
                base + (type == "application/json" ? "Request" : "Form")
            } example: {
                operation.body?.example ?? SchemaExample.value(of: $0, in: operation.id)
            }
            json["requestBody"] = body
        }
        var responses = json["responses"]?.members ?? []
        for (index, response) in responses.enumerated() where response.value["content"] != nil {
            let reply = operation.replies.first { "\($0.status)" == response.name }
            responses[index].value["content"] = media(response.value["content"], of: operation) { _ in
                base + (["201": "Created", "202": "Accepted", "206": "Part"][response.name] ?? "Answer")
            } example: {
                SchemaExample.value(SchemaExample.value(of: $0, in: operation.id, isWhole: false), with: reply?.example)
            }
        }
        json["responses"] = .object(responses)
        return json
    }

    /// Adds a schema of the document itself.
    mutating func add(_ name: String, _ schema: JSONValue) {
        members.append(.init(name, described(schema, in: name, as: name, of: "")))
    }

    private mutating func media(
        _ content: JSONValue?, of operation: APIOperation, name: (String) -> String, example: (JSONValue) -> JSONValue
    ) -> JSONValue {
        .object(
            (content?.members ?? []).map { type in
                guard let schema = type.value["schema"] else { return type }
                var media = type.value
                media["schema"] = reference(to: schema, in: operation.id, as: name(type.name))
                if type.name == "application/json" { media["example"] = example(schema) }
                return .init(type.name, media)
            })
    }

    /// Returns a reference to an object's schema; returns any other schema unchanged. The object gets the given name, unless an equal
    /// object has a name already.
    private mutating func reference(to schema: JSONValue, in operation: String, as name: String, of parent: String = "") -> JSONValue {
        let schema = described(schema, in: operation, as: name, of: parent)
        // A reference cannot be null as well.
        guard schema["type"] == "object", schema["properties"] != nil else { return schema }
        return JSONSchema.component(names[schema.text] ?? add(schema, as: name)).json
    }

    /// Adds a schema under the name, or under the name with a number if another schema has it; returns its name.
    private mutating func add(_ schema: JSONValue, as name: String) -> String {
        var (free, number) = (name, 1)
        while members.contains(where: { $0.name == free }) {
            number += 1
            free = "\(name)\(number)"
        }
        names[schema.text] = free
        members.append(.init(free, schema))
        return free
    }

    /// Returns the schema with descriptions of its members, and with references in place of its inner objects.
    private mutating func described(_ schema: JSONValue, in operation: String, as name: String, of parent: String) -> JSONValue {
        var schema = schema
        if let items = schema["items"] { schema["items"] = reference(to: items, in: operation, as: Self.singular(name), of: parent) }
        guard let properties = schema["properties"]?.members else { return schema }
        let stem =
            ["Request", "Form", "Answer", "Created", "Accepted", "Part", "Data"].first(where: name.hasSuffix)
            .map { String(name.dropLast($0.count)) } ?? name
        schema["properties"] = .object(
            properties.map { member in
                let inner = stem + member.name.split(separator: "_").map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
                var value = reference(to: member.value, in: operation, as: inner, of: member.name)
                if value["description"] == nil, let note = APIProperty.note(of: member.name, under: parent, in: operation) {
                    value["description"] = .string(note.summary)
                }
                return .init(member.name, value)
            })
        return schema
    }

    private static func singular(_ name: String) -> String { name.hasSuffix("s") ? String(name.dropLast()) : name + "Item" }
}
