internal import FoundationEssentials
internal import PostgresClient

extension PostgresRow {
    /// Reads a column of JSON text (`column::text`).
    func decodeJSON<Value: Decodable>(
        _ column: String, as type: Value.Type = Value.self
    ) throws(PostgresError) -> Value {
        let text = try decode(column, as: String.self)
        do {
            return try JSONDecoder().decode(type, from: Data(text.utf8))
        } catch {
            throw PostgresError(code: .decoding, message: "column \(column) is unexpected JSON", underlying: error)
        }
    }
}

/// Writes a value as JSON text, for a `…::text::jsonb` parameter.
func jsonText(_ value: some Encodable) throws(PostgresError) -> String {
    do {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    } catch {
        throw PostgresError(code: .invalidQuery, message: "a value has no JSON form", underlying: error)
    }
}
