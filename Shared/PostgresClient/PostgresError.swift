/// A failure of a query, of a connection or of the pool.
///
/// The ``description`` is safe for logs: it never holds a parameter, a row, or a server message of a class whose messages quote
/// data. The server's unfiltered message is in ``serverMessage``.
public struct PostgresError: Error, Sendable {
    /// The kind of a failure.
    public enum Code: Sendable, Hashable {
        /// The server refused the statement; the value is the five characters of its SQLSTATE.
        case sqlState(String)
        /// The connection broke before the answer arrived: whether a write took effect is unknown.
        case connectionLost
        /// The work had no connection before its deadline, or no connection can be made: no part of the work was sent.
        case unavailable
        /// The deadline passed while the server ran the statement.
        case timeout
        /// The calling task was cancelled.
        case cancelled
        /// The queue of waiting work is full (``PostgresConfiguration/maxWaiting``).
        case queueFull
        /// The client is shut down, or the transaction has ended.
        case closed
        /// A column is missing, NULL or of another type than requested.
        case decoding
        /// The connection string or a limit of the configuration is invalid.
        case configuration
        /// The query itself cannot be sent: too many parameters, or a NUL in its text.
        case invalidQuery
        /// An applied migration differs from the one in the program, or the numbering is invalid.
        case migration
    }

    /// The kind of the failure, for decisions in code.
    public let code: Code
    /// The reason, safe for logs.
    public let message: String
    /// The server's primary message; it may quote data, so it must not be logged.
    public internal(set) var serverMessage: String?
    /// The violated constraint, when the server named one.
    public internal(set) var constraint: String?
    /// The error that caused this one.
    public internal(set) var underlying: (any Error)?

    /// Creates an error.
    public init(code: Code, message: String, underlying: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.underlying = underlying
    }

    /// The SQLSTATE, when the server refused the statement.
    public var sqlState: String? {
        if case .sqlState(let state) = code { state } else { nil }
    }

    /// Whether any constraint refused the row (class 23).
    public var isIntegrityViolation: Bool { sqlState?.hasPrefix("23") ?? false }

    /// Whether a unique constraint refused the row (23505).
    public var isUniqueViolation: Bool { sqlState == "23505" }

    /// Whether a foreign key refused the row (23503).
    public var isForeignKeyViolation: Bool { sqlState == "23503" }
}

extension PostgresError: CustomStringConvertible {
    /// The code, the message and the constraint.
    public var description: String {
        var text = "PostgresError(\(code)): \(message)"
        if let constraint { text += " [constraint \(constraint)]" }
        if let underlying { text += " (caused by \(underlying))" }
        return text
    }
}

extension PostgresError {
    @usableFromInline static func decoding(_ message: String) -> PostgresError { PostgresError(code: .decoding, message: message) }
    /// The SQLSTATE of a server or transaction that takes no writes.
    static let readOnlyState = "25006"
    /// The error of a transaction one of whose prepared statements is not usable any more, by whatever SQLSTATE the server said so.
    static func staleStatement(_ error: PostgresError) -> PostgresError {
        PostgresError(code: .sqlState("26000"), message: "a prepared statement is not usable any more", underlying: error)
    }
    static let cancelled = PostgresError(code: .cancelled, message: "the task was cancelled")
    static let closed = PostgresError(code: .closed, message: "the client is shut down")
    static let transactionEnded = PostgresError(code: .closed, message: "the transaction or session has already ended")
}
