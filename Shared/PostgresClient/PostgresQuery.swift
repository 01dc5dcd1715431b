/// An SQL statement and the values bound to it.
///
/// Write it as a string literal: every `\(value)` becomes a parameter, sent apart from the text in binary, so that
/// no value can change the statement.
/// ```swift
/// try await client.query("SELECT name FROM users WHERE id = \(id)")
/// ```
/// The text decides which prepared statement is used: keep it free of values.
public struct PostgresQuery: Sendable {
    /// The text with `$1`, `$2`, … where values were interpolated.
    public private(set) var sql: String
    private(set) var arguments: PostgresArguments
    /// How long this query may take, waiting included; nil is ``PostgresConfiguration/queryTimeout``.
    public var timeout: Duration?
    /// Whether the statement reads only, and may therefore share a round trip with other callers' reads.
    ///
    /// Such reads are many times cheaper, but wait for their neighbours on the connection, so keep it to short
    /// statements. A statement with an effect (a write, a row lock, a sequence, an advisory lock) must never be marked:
    /// it may run twice, and be rolled back after it was reported.
    public var isReadOnly = false

    /// Creates a query from a text without values, such as one that is not known at compile time.
    public init(unescaped sql: String) {
        self.sql = sql
        arguments = PostgresArguments()
    }

    /// Binds a value to the next `$n` of a text that was written with its own placeholders.
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

    /// The number of bound values.
    public var parameterCount: Int { arguments.count }
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
        /// An overload of its own, because the compiler warns of optionals that end in an unconstrained interpolation.
        public mutating func appendInterpolation<Value: PostgresEncodable>(_ value: Value?) {
            arguments.append(value)
            sql += "$"
            sql += String(arguments.count)
        }

        /// Splices SQL text in as it is: for names of tables and lists of columns, never for data.
        public mutating func appendInterpolation(unescaped text: String) {
            sql += text
        }

        /// Splices an identifier in, quoted.
        public mutating func appendInterpolation(identifier name: String) {
            sql += quotedIdentifier(name)
        }
    }
}

extension PostgresQuery: CustomStringConvertible {
    /// The text; values are not shown.
    public var description: String { sql }
}

/// The name in double quotes, with those inside it doubled.
func quotedIdentifier(_ name: String) -> String {
    var quoted = "\""
    for character in name.unicodeScalars {
        if character == "\"" { quoted += "\"" }
        quoted.unicodeScalars.append(character)
    }
    return quoted + "\""
}
