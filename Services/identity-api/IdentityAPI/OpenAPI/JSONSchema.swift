internal import JSON

/// A JSON Schema (draft 2020-12), as far as the bodies of the API need it.
///
/// Objects may have more members than a schema names: clients ignore them, and so does the server.
struct JSONSchema: Sendable {
    let json: JSONValue

    static let boolean = JSONSchema(json: ["type": "boolean"])
    static let text = JSONSchema(json: ["type": "string"])
    static let uuid = JSONSchema(json: ["type": "string", "format": "uuid"])
    static let instant = JSONSchema(json: ["type": "string", "format": "date-time"])
    /// Always null. As one of two types, because generators make of null alone a class that they do not write.
    static let null = JSONSchema(json: ["type": ["object", "null"]])
    /// A number of things.
    static let count = JSONSchema(json: ["type": "integer", "minimum": 0])
    /// The bytes of a file in a form.
    static let file = JSONSchema(json: ["type": "string", "contentMediaType": "application/octet-stream"])
    /// A text in base64, bare or as a data URI.
    static let base64 = JSONSchema(json: ["type": "string", "contentEncoding": "base64"])

    /// A text of so many characters.
    static func text(_ length: ClosedRange<Int>, pattern: String? = nil) -> JSONSchema {
        JSONSchema(
            json: .members(
                ("type", "string"), ("minLength", .integer(length.lowerBound)), ("maxLength", .integer(length.upperBound)),
                ("pattern", pattern.map(JSONValue.string))))
    }

    /// A whole number in a range.
    static func integer(_ range: ClosedRange<Int>) -> JSONSchema {
        JSONSchema(
            json: .members(("type", "integer"), ("minimum", .integer(range.lowerBound)), ("maximum", .integer(range.upperBound))))
    }

    /// One of these texts.
    static func one(of texts: [String]) -> JSONSchema {
        JSONSchema(json: .members(("type", "string"), ("enum", .array(texts.map(JSONValue.string)))))
    }

    /// One of the values of an enumeration.
    static func one<Value: CaseIterable & RawRepresentable<String>>(of _: Value.Type) -> JSONSchema {
        one(of: Value.allCases.map(\.rawValue))
    }

    /// This value only.
    static func constant(_ value: JSONValue) -> JSONSchema { JSONSchema(json: .members(("const", value))) }

    static func array(of items: JSONSchema, upTo maxItems: Int? = nil, from minItems: Int? = nil) -> JSONSchema {
        JSONSchema(
            json: .members(
                ("type", "array"), ("items", items.json), ("minItems", minItems.map(JSONValue.integer)),
                ("maxItems", maxItems.map(JSONValue.integer))))
    }

    /// An object that has the members of `required`, and may have those of `optional`.
    static func object(
        _ required: KeyValuePairs<String, JSONSchema> = [:], optional: KeyValuePairs<String, JSONSchema> = [:]
    ) -> JSONSchema {
        object(required.map { ($0.key, $0.value) }, optional: optional.map { ($0.key, $0.value) })
    }

    /// An object that has the members of `required`, and may have those of `optional`.
    static func object(_ required: [(String, JSONSchema)], optional: [(String, JSONSchema)]) -> JSONSchema {
        let properties = (required + optional).map { JSONValue.Member($0.0, $0.1.json) }
        let names = required.map { JSONValue.string($0.0) }
        return JSONSchema(
            json: .members(
                ("type", "object"), ("properties", .object(properties)), ("required", names.isEmpty ? nil : .array(names))))
    }

    /// An object whose members have any name.
    static func map(of values: JSONSchema) -> JSONSchema {
        JSONSchema(json: .members(("type", "object"), ("additionalProperties", values.json)))
    }

    static func any(of schemas: [JSONSchema]) -> JSONSchema {
        JSONSchema(json: .members(("anyOf", .array(schemas.map(\.json)))))
    }

    /// A schema among the components of the document.
    static func component(_ name: String) -> JSONSchema {
        JSONSchema(json: .members(("$ref", .string("#/components/schemas/\(name)"))))
    }

    /// The same, or null: as a second type, because generators make a class of its own of an alternative that is only null.
    var orNull: JSONSchema {
        guard let type = json["type"] else { preconditionFailure("only a schema with a type can be null as well") }
        var json = json
        json["type"] = .array([type, "null"])
        if case .array(let values)? = json["enum"] { json["enum"] = .array(values + [.null]) }
        return JSONSchema(json: json)
    }

    /// The same with an explanation.
    func described(_ text: String) -> JSONSchema {
        var json = json
        json["description"] = .string(text)
        return JSONSchema(json: json)
    }
}
