import JSON

/// Reads a JSON body against a schema: collects every violation, and writes all names in snake_case.
struct SchemaReader {
    /// The violations so far, in the order of the body.
    private var violations: [(field: String, description: String)] = []

    /// Returns the body with every known field under its snake_case name.
    static func read(_ body: JSONValue, as schema: MessageSchema) throws(FCMRefusal) -> JSONValue {
        var reader = SchemaReader()
        let value = reader.message(body, schema, path: "")
        guard reader.violations.isEmpty else { throw .schema(reader.violations) }
        return value
    }

    private mutating func complain(_ path: String, _ description: String) {
        violations.append((path, description))
    }

    private mutating func invalid(_ path: String, _ type: String, _ value: JSONValue) {
        complain(path, "Invalid value at '\(path)' (\(type)), \(value.text)")
    }

    private mutating func message(_ value: JSONValue, _ schema: MessageSchema, path: String) -> JSONValue {
        guard let members = value.members else {
            invalid(path, "type.googleapis.com/" + schema.name, value)
            return value
        }
        var result: JSONValue = [:]
        var chosen: String?
        for member in members {
            guard let field = schema.fields[member.name] else {
                let place = path.isEmpty ? "" : " at '\(path)'"
                complain(
                    path, "Invalid JSON payload received. Unknown name \"\(member.name)\"\(place): Cannot find field.")
                continue
            }
            if member.value == .null { continue }
            if let oneOf = schema.oneOf, oneOf.fields.contains(field.name) {
                // Two targets at once: never captured; the text comes from the parser of protocol buffers.
                if chosen != nil {
                    let text = "oneof field '\(oneOf.name)' is already set. Cannot set '\(field.name)'"
                    complain(path, "Invalid value at '\(path)' (oneof), \(text)")
                    continue
                }
                chosen = field.name
            }
            let inner = path.isEmpty ? field.name : "\(path).\(field.name)"
            result[field.name] = read(member.value, field.type, path: inner)
        }
        return result
    }

    private mutating func read(_ value: JSONValue, _ type: FieldType, path: String) -> JSONValue {
        switch type {
        case .message(let schema): return message(value, schema, path: path)
        case .stringMap: stringMap(value, path: path)
        case .list(let element): return list(value, of: element, path: path)
        case .object: if value.members == nil { invalid(path, "type.googleapis.com/google.protobuf.Struct", value) }
        default: scalar(value, type, path: path)
        }
        return value
    }

    private mutating func scalar(_ value: JSONValue, _ type: FieldType, path: String) {
        switch type {
        case .string: if value.string == nil { invalid(path, "TYPE_STRING", value) }
        case .bool: if value.boolean == nil { invalid(path, "TYPE_BOOL", value) }
        case .int32:
            let number = value.integer ?? value.string.flatMap(Int.init)
            if number.flatMap(Int32.init(exactly:)) == nil { invalid(path, "TYPE_INT32", value) }
        case .number:
            if value.double == nil { invalid(path, "TYPE_FLOAT", value) }
        case .duration:
            if value.string.flatMap(ProtobufDuration.seconds) == nil {
                let text = "Illegal duration format; duration must end with 's'"
                complain(path, "Invalid value at '\(path)' (type.googleapis.com/google.protobuf.Duration), \(text)")
            }
        case .timestamp:
            if value.string.map({ $0.utf8.count >= 20 && $0.contains("T") }) != true {
                invalid(path, "type.googleapis.com/google.protobuf.Timestamp", value)
            }
        case .enumeration(let name, let cases):
            // Lower case is accepted: the SDKs have always sent "high".
            if value.string.map({ cases.contains($0.uppercased()) }) != true {
                invalid(path, "type.googleapis.com/" + name, value)
            }
        case .stringMap, .list, .object, .message: break
        }
    }

    private mutating func stringMap(_ value: JSONValue, path: String) {
        guard let members = value.members else { return invalid(path, "TYPE_STRING", value) }
        for (index, member) in members.enumerated() where member.value.string == nil {
            invalid("\(path)[\(index)].value", "TYPE_STRING", member.value)
        }
    }

    private mutating func list(_ value: JSONValue, of type: FieldType, path: String) -> JSONValue {
        guard let elements = value.elements else {
            invalid(path, "TYPE_STRING", value)
            return value
        }
        return .array(elements.enumerated().map { index, element in read(element, type, path: "\(path)[\(index)]") })
    }
}

/// The JSON form of `google.protobuf.Duration`.
enum ProtobufDuration {
    /// The seconds of `"3.5s"`; nil when it is not of that form.
    static func seconds(_ text: String) -> Double? {
        guard text.last == "s", text.utf8.dropLast().allSatisfy({ (0x30...0x39).contains($0) || $0 == 0x2E || $0 == 0x2D })
        else { return nil }
        return Double(text.dropLast())
    }
}
