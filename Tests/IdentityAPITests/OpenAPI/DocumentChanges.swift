import JSON

/// Finds the changes of an OpenAPI document that break apps which were made for the older one.
///
/// What is added does not: apps ignore members, errors and statuses that they do not know.
enum DocumentChanges {
    /// Returns the breaking changes, by their places.
    static func breaking(from oldDocument: JSONValue, to newDocument: JSONValue) -> [String] {
        let (old, new) = (oldDocument.inlined(in: oldDocument), newDocument.inlined(in: newDocument))
        var found: [String] = []
        for path in old["paths"]?.members ?? [] {
            for operation in path.value.members ?? [] {
                let place = "\(operation.name) \(path.name)"
                guard let other = new["paths"]?[path.name]?[operation.name] else {
                    found.append("\(place) is removed")
                    continue
                }
                found += operationChanges(operation.value, other, place)
                found += responseChanges(operation.value["responses"], in: old, other["responses"], in: new, place)
            }
        }
        let bodies = bodyNames(oldDocument)
        for schema in old["components"]?["schemas"]?.members ?? [] where !bodies.contains(schema.name) {
            guard let other = new["components"]?["schemas"]?[schema.name] else {
                found.append("\(schema.name) is removed")
                continue
            }
            found += SchemaChanges(isRequest: false).breaking(from: schema.value, to: other, schema.name)
        }
        return found
    }

    /// The names of the schemas of bodies, which apps only send; they are compared with their operations.
    private static func bodyNames(_ document: JSONValue) -> Set<String> {
        let operations = (document["paths"]?.members ?? []).flatMap { $0.value.members ?? [] }
        let contents = operations.flatMap { $0.value["requestBody"]?["content"]?.members ?? [] }
        return Set(contents.compactMap { $0.value["schema"]?["$ref"]?.string?.split(separator: "/").last.map(String.init) })
    }

    private static func operationChanges(_ old: JSONValue, _ new: JSONValue, _ place: String) -> [String] {
        var found = old["operationId"] == new["operationId"] ? [] : ["\(place): another operationId"]
        let (before, now) = (old["security"]?.elements ?? [], new["security"]?.elements ?? [])
        // An empty alternative takes requests without a bearer.
        if before.isEmpty ? !now.isEmpty && !now.contains(.object([])) : !before.allSatisfy(now.contains) && !now.isEmpty {
            found.append("\(place): a bearer is not enough any more")
        }
        found += parameterChanges(old["parameters"]?.elements ?? [], new["parameters"]?.elements ?? [], place)
        return found + bodyChanges(old["requestBody"], new["requestBody"], place)
    }

    private static func responseChanges(
        _ old: JSONValue?, in oldDocument: JSONValue, _ new: JSONValue?, in newDocument: JSONValue, _ place: String
    ) -> [String] {
        var found: [String] = []
        for response in old?.members ?? [] {
            guard let other = new?[response.name].map(newDocument.resolved) else {
                found.append("\(place): \(response.name) is removed")
                continue
            }
            let response = (name: response.name, value: oldDocument.resolved(response.value))
            for header in response.value["headers"]?.members ?? [] where other["headers"]?[header.name] == nil {
                found.append("\(place): \(response.name) lacks \(header.name)")
            }
            found += contentChanges(response.value, other, "\(place) \(response.name)", isRequest: false)
        }
        return found
    }

    private static func parameterChanges(_ old: [JSONValue], _ new: [JSONValue], _ place: String) -> [String] {
        let isSame = { (one: JSONValue, other: JSONValue) in one["in"] == other["in"] && one["name"] == other["name"] }
        let changed = old.flatMap { parameter -> [String] in
            let name = parameter["name"]?.string ?? ""
            guard let other = new.first(where: { isSame($0, parameter) }) else { return ["\(place): \(name) is removed"] }
            let needed = other["required"] == true && parameter["required"] != true ? ["\(place): \(name) is required"] : []
            let schemas = SchemaChanges(isRequest: true)
            return needed + schemas.breaking(from: parameter["schema"] ?? [:], to: other["schema"] ?? [:], "\(place) \(name)")
        }
        let added = new.filter { parameter in parameter["required"] == true && !old.contains { isSame($0, parameter) } }
        return changed + added.map { "\(place): \($0["name"]?.string ?? "") is required" }
    }

    private static func bodyChanges(_ old: JSONValue?, _ new: JSONValue?, _ place: String) -> [String] {
        guard let old else { return new?["required"] == true ? ["\(place): a body is required"] : [] }
        guard let new else { return ["\(place): the body is removed"] }
        var found = contentChanges(old, new, "\(place) body", isRequest: true)
        if new["required"] == true, old["required"] != true { found.append("\(place): a body is required") }
        if (new["x-max-bytes"]?.integer ?? 0) < (old["x-max-bytes"]?.integer ?? 0) { found.append("\(place): smaller bodies only") }
        return found
    }

    private static func contentChanges(_ old: JSONValue, _ new: JSONValue, _ place: String, isRequest: Bool) -> [String] {
        (old["content"]?.members ?? []).flatMap { type -> [String] in
            guard let other = new["content"]?[type.name] else { return ["\(place): \(type.name) is removed"] }
            guard let schema = type.value["schema"] else { return [] }
            return SchemaChanges(isRequest: isRequest).breaking(from: schema, to: other["schema"] ?? [:], "\(place) \(type.name)")
        }
    }
}

extension JSONValue {
    /// Returns a part of a document with its schemas in place of the references to them, whose names apps do not see.
    func inlined(in document: JSONValue) -> JSONValue {
        if let reference = self["$ref"]?.string, reference.hasPrefix("#/components/schemas/") {
            var schema = document.resolved(self).inlined(in: document)
            for member in members ?? [] where member.name != "$ref" { schema[member.name] = member.value }
            return schema
        }
        switch self {
        case .object(let members): return .object(members.map { .init($0.name, $0.value.inlined(in: document)) })
        case .array(let elements): return .array(elements.map { $0.inlined(in: document) })
        default: return self
        }
    }

    /// Returns the component of this document that a reference names; anything else as it is.
    func resolved(_ value: JSONValue) -> JSONValue {
        guard let path = value["$ref"]?.string?.split(separator: "/").dropFirst() else { return value }
        return path.reduce(self) { $0[String($1)] ?? .null }
    }
}
