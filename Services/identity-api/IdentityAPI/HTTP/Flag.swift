internal import JSON

/// A truth value as clients spell it: in a form always as a text, in JSON sometimes.
enum Flag {
    /// Reads a field of a form; nil for the spellings of an absent one.
    static func read(text: String?, field: String) throws(APIError) -> Bool? { try read(text.map { .string($0) }, field: field) }

    /// Reads a value; nil for the spellings of an absent one.
    ///
    /// - Throws: `invalid_request` for anything else than true and false.
    static func read(_ value: JSONValue?, field: String) throws(APIError) -> Bool? {
        switch value {
        case nil, .null: return nil
        case .bool(let value): return value
        case .integer(1): return true
        case .integer(0): return false
        case .string(let text) where text.isPlaceholder: return nil
        case .string(let text):
            switch text.trimmed.lowercased() {
            case "true", "1", "yes", "on": return true
            case "false", "0", "no", "off": return false
            default: break
            }
        default: break
        }
        throw APIError(.invalidRequest, "\(field) is true or false", field: field)
    }
}
