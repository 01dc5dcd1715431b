import JSON

/// Finds the changes of a schema that break apps.
struct SchemaChanges {
    /// Whether apps send the value, so that it must not be limited further; or receive it, so that nothing of it may go.
    let isRequest: Bool

    /// Returns the breaking changes, by their places.
    func breaking(from old: JSONValue, to new: JSONValue, _ place: String) -> [String] {
        if let changes = alternativeChanges(old, new, place) { return changes }
        var found = ["$ref", "type", "const", "format"].filter { isChanged(old[$0], new[$0]) }.map { "\(place): another \($0)" }
        if let values = new["enum"]?.elements {
            let isNarrower = old["enum"]?.elements.map { !$0.allSatisfy(values.contains) } ?? isRequest
            if isNarrower { found.append("\(place): fewer values") }
        } else if old["enum"] != nil, !isRequest {
            found.append("\(place): any value")
        }
        if isRequest { found += limitChanges(old, new, place) }
        return found + memberChanges(old, new, place)
    }

    /// Compares the alternatives, if one of the schemas has any.
    private func alternativeChanges(_ old: JSONValue, _ new: JSONValue, _ place: String) -> [String]? {
        guard old["anyOf"] != nil || new["anyOf"] != nil else { return nil }
        let (before, now) = (old["anyOf"]?.elements ?? [old], new["anyOf"]?.elements ?? [new])
        if !isRequest, old["anyOf"] == nil { return ["\(place): one of several"] }
        let changes = before.map { alternative in now.map { breaking(from: alternative, to: $0, place) }.min { $0.count < $1.count } ?? [] }
        return changes.flatMap(\.self)
    }

    private func isChanged(_ old: JSONValue?, _ new: JSONValue?) -> Bool {
        guard let old else { return isRequest && new != nil }
        // What apps send may be limited less than before.
        guard let new else { return !isRequest }
        return old != new
    }

    private func limitChanges(_ old: JSONValue, _ new: JSONValue, _ place: String) -> [String] {
        let upper = ["maximum", "maxLength", "maxItems"].filter { name in
            new[name]?.integer.map { $0 < old[name]?.integer ?? .max } ?? false
        }
        let lower = ["minimum", "minLength", "minItems"].filter { name in
            new[name]?.integer.map { $0 > old[name]?.integer ?? .min } ?? false
        }
        let pattern = isChanged(old["pattern"], new["pattern"]) ? ["pattern"] : []
        return (upper + lower + pattern).map { "\(place): a narrower \($0)" }
    }

    private func memberChanges(_ old: JSONValue, _ new: JSONValue, _ place: String) -> [String] {
        var found: [String] = []
        for property in old["properties"]?.members ?? [] {
            if let other = new["properties"]?[property.name] {
                found += breaking(from: property.value, to: other, "\(place).\(property.name)")
            } else {
                found.append("\(place).\(property.name) is removed")
            }
        }
        for name in ["items", "additionalProperties"] {
            guard let schema = old[name] else { continue }
            if let other = new[name] {
                found += breaking(from: schema, to: other, "\(place).\(name)")
            } else if !isRequest {
                found.append("\(place): any \(name)")
            }
        }
        let (before, now) = (names(old), names(new))
        found += (isRequest ? now.subtracting(before) : before.subtracting(now)).sorted().map {
            "\(place).\($0) is \(isRequest ? "required" : "not always there")"
        }
        return found
    }

    private func names(_ schema: JSONValue) -> Set<String> { Set((schema["required"]?.elements ?? []).compactMap(\.string)) }
}
