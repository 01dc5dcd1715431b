internal import JSON

/// Renders the schemas of the document.
enum SchemaHTML {
    /// The keywords that are rendered.
    static let keywords: Set<String> = [
        "$ref", "const", "enum", "anyOf", "type", "format", "contentMediaType", "contentEncoding", "properties", "required", "items",
        "additionalProperties", "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "pattern", "description",
    ]

    /// Renders the members of an object: name, type, whether each is required, limits, description.
    static func members(of schema: JSONValue) -> String {
        let required = (schema["required"]?.elements ?? []).compactMap(\.string)
        let rows = (schema["properties"]?.members ?? []).map { row($0.name, $0.value, isRequired: required.contains($0.name)) }
        return list(rows)
    }

    /// Renders a list of values that have names.
    static func list(_ rows: [String]) -> String { rows.isEmpty ? "" : "<dl class=\"members\">\n\(rows.joined())</dl>\n" }

    /// Renders a value that has a name; `note` is what else there is to say of its type.
    static func row(_ name: String, _ schema: JSONValue, note: String = "", isRequired: Bool, summary: String? = nil) -> String {
        let mark = isRequired ? " <b class=\"required\">required</b>" : ""
        let description = HTMLText.marked(summary ?? schema["description"]?.string ?? "")
        let more = [choices(schema, besides: description), limits(schema)].compactMap(\.self)
        let stop = more.isEmpty || description.isEmpty || description.hasSuffix(".") ? "" : "."
        let parts = ([description + stop].filter { !$0.isEmpty } + more).joined(separator: " ")
        return """
            <div><dt><code>\(HTMLText.escaped(name))</code> <span class="type">\(type(of: schema))\(note)</span>\(mark)</dt>\
            <dd>\(parts)\(schema["properties"] == nil ? "" : "\n" + members(of: schema))</dd></div>

            """
    }

    /// Returns the type of a value in words, with links to the schemas that it names.
    static func type(of schema: JSONValue) -> String {
        if let name = schema["$ref"]?.string?.split(separator: "/").last {
            return "<a href=\"#\(name)\">\(HTMLText.name(String(name)))</a>"
        }
        if let constant = schema["const"] { return "always <code>\(HTMLText.escaped(constant.text))</code>" }
        if let alternatives = schema["anyOf"]?.elements { return alternatives.map(type).joined(separator: " or ") }
        let types = (schema["type"]?.elements ?? [schema["type"] ?? "any value"]).compactMap(\.string)
        guard let first = types.first(where: { $0 != "null" }) else { return "null" }
        let isNull = first == "object" && types.contains("null") && schema["properties"] == nil && schema["additionalProperties"] == nil
        if isNull { return "always <code>null</code>" }
        guard types.contains("null") else { return word(for: first, schema) }
        // "each text or null" would be said of the values.
        let isOfOthers = schema["items"] != nil || schema["additionalProperties"] != nil
        return isOfOthers ? "null or " + word(for: first, schema) : word(for: first, schema) + " or null"
    }

    private static func word(for type: String, _ schema: JSONValue) -> String {
        switch type {
        case "array": "array of \(schema["items"].map(plural) ?? "any values")"
        case "object": schema["additionalProperties"].map { "object of any names, each \(self.type(of: $0))" } ?? "object"
        case "string" where schema["contentMediaType"] != nil: "file"
        case "string" where schema["contentEncoding"] != nil: "base64"
        case "string": ["uuid": "UUID", "date-time": "instant"][schema["format"]?.string ?? ""] ?? "text"
        default: type
        }
    }

    /// Names of schemas stay as they are.
    private static func plural(_ schema: JSONValue) -> String {
        let type = type(of: schema)
        return ["text", "file", "UUID", "instant", "integer", "boolean", "object"].contains(type) ? type + "s" : type
    }

    /// Returns the values to choose from; nil without such values, or when the description names each.
    private static func choices(_ schema: JSONValue, besides description: String) -> String? {
        let values = (schema["enum"] ?? schema["items"]?["enum"])?.elements ?? []
        let texts = values.map { "<code>\(HTMLText.escaped($0.string ?? $0.text))</code>" }
        return texts.allSatisfy(description.contains) ? nil : "One of \(texts.joined(separator: ", "))."
    }

    /// Returns the limits of a value in words; nil for a value without limits.
    private static func limits(_ schema: JSONValue) -> String? {
        let ranges = [("minimum", "maximum", ""), ("minLength", "maxLength", " characters"), ("minItems", "maxItems", " elements")]
        var parts = ranges.compactMap { least, most, unit in range(schema[least]?.integer, schema[most]?.integer).map { $0 + unit } }
        if let pattern = schema["pattern"]?.string { parts.append("matches <code>\(HTMLText.escaped(pattern))</code>") }
        return parts.isEmpty ? nil : "<span class=\"limits\">\(parts.joined(separator: ", "))</span>"
    }

    private static func range(_ least: Int?, _ most: Int?) -> String? {
        switch (least, most) {
        case (nil, nil): nil
        case (let least?, nil): "\(least) or more"
        case (nil, let most?): "up to \(most)"
        case (let least?, let most?): least == most ? "\(least)" : "\(least) to \(most)"
        }
    }
}
