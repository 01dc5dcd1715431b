extension PostgresRow {
    /// Reads a text column as one of an enum's raw values.
    ///
    /// - Throws: ``PostgresError`` with code `decoding` when it is NULL, no text or an unknown value.
    public func decodeCase<Value: RawRepresentable<String>>(
        _ column: String, as type: Value.Type = Value.self
    ) throws(PostgresError) -> Value {
        let raw = try decode(column, as: String.self)
        guard let value = Value(rawValue: raw) else {
            throw .decoding("column \(column) holds the unknown value \(raw.prefix(40))")
        }
        return value
    }

    /// Reads a nullable text column as one of an enum's raw values.
    ///
    /// - Throws: ``PostgresError`` with code `decoding` when it is no text or an unknown value.
    public func decodeCaseIfPresent<Value: RawRepresentable<String>>(
        _ column: String, as type: Value.Type = Value.self
    ) throws(PostgresError) -> Value? {
        try decode(column, as: String?.self) == nil ? nil : decodeCase(column, as: type)
    }
}
