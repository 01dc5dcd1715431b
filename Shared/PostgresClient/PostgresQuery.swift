/// An SQL statement and the values bound to it.
///
/// Write it as a string literal: every `\(value)` becomes a parameter that is sent in binary, separate from the text, so that no
/// value can change the statement.
/// ```swift
/// try await client.query("SELECT name FROM users WHERE id = \(id)")
/// ```
/// The text selects the prepared statement: keep it free of values.
public struct PostgresQuery: Sendable {
    /// The text with `$1`, `$2`, … where values were interpolated.
    public private(set) var sql: String
    private(set) var arguments: PostgresArguments
    /// The time limit of this query, waiting included; nil means ``PostgresConfiguration/queryTimeout``.
    public var timeout: Duration?
    /// Whether the statement only reads, and may therefore share a round trip with reads of other callers.
    ///
    /// Such reads are many times cheaper, but wait for the other reads on the connection, so mark only short statements. A statement
    /// with an effect (a write, a row lock, a sequence, an advisory lock) must never be marked: it may run twice, and may be rolled
    /// back after it was reported as successful.
    public var isReadOnly = false

    /// Creates a query from a text without values, for example one that is not known at compile time.
    public init(unescaped sql: String) {
        self.sql = sql
        arguments = PostgresArguments()
    }

    /// Binds a value to the next `$n` of a text that contains its own placeholders.
    public mutating func bind<Value: PostgresEncodable>(_ value: Value) {
        arguments.append(value)
    }

    /// Returns the query marked as read-only; see ``isReadOnly``.
    public func readOnly() -> PostgresQuery {
        var copy = self
        copy.isReadOnly = true
        return copy
    }

    /// Returns the query with a time limit of its own.
    public func timeout(_ timeout: Duration) -> PostgresQuery {
        var copy = self
        copy.timeout = timeout
        return copy
    }
}

extension PostgresQuery: ExpressibleByStringInterpolation {
    /// Creates a query from a plain literal.
    public init(stringLiteral value: String) {
        self.init(unescaped: value)
    }

    /// Creates a query from a literal with values in it.
    public init(stringInterpolation: StringInterpolation) {
        sql = stringInterpolation.sql
        arguments = stringInterpolation.arguments
    }

    /// Collects the text and the values of a literal.
    public struct StringInterpolation: StringInterpolationProtocol, Sendable {
        var sql: String
        var arguments = PostgresArguments()

        /// Reserves room for the literal.
        public init(literalCapacity: Int, interpolationCount: Int) {
            sql = ""
            sql.reserveCapacity(literalCapacity + interpolationCount * 3)
        }

        /// Adds a part of the text.
        public mutating func appendLiteral(_ literal: String) {
            sql += literal
        }

        /// Binds a value as the next parameter.
        public mutating func appendInterpolation<Value: PostgresEncodable>(_ value: Value) {
            arguments.append(value)
            sql += "$"
            sql += String(arguments.count)
        }

        /// Binds a value, or NULL, as the next parameter.
        ///
        /// A separate overload, because the compiler warns about optionals in an unconstrained interpolation.
        public mutating func appendInterpolation<Value: PostgresEncodable>(_ value: Value?) {
            arguments.append(value)
            sql += "$"
            sql += String(arguments.count)
        }

        /// Inserts SQL text unchanged: for names of tables and lists of columns, never for data.
        public mutating func appendInterpolation(unescaped text: String) {
            sql += text
        }

        /// Inserts a quoted identifier.
        public mutating func appendInterpolation(identifier name: String) {
            sql += quotedIdentifier(name)
        }
    }
}

extension PostgresQuery: CustomStringConvertible {
    /// The text; values are not shown.
    public var description: String { sql }
}

/// Returns the name in double quotes, with the double quotes inside it doubled.
func quotedIdentifier(_ name: String) -> String {
    var quoted = "\""
    for character in name.unicodeScalars {
        if character == "\"" { quoted += "\"" }
        quoted.unicodeScalars.append(character)
    }
    return quoted + "\""
}
