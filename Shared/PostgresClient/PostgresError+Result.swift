internal import CLibPQ

/// The fields of an error or notice from the server; the raw values are the characters of postgres_ext.h.
enum DiagnosticField: Int32 {
    case severity = 86  // V, not localised
    case sqlState = 67  // C
    case message = 77  // M
    case constraint = 110  // n

    func read(_ result: OpaquePointer) -> String? {
        PQresultErrorField(result, rawValue).map { String(cString: $0) }
    }
}

extension PostgresError {
    /// Creates the error of a PGresult with status FATAL_ERROR.
    init(result: OpaquePointer, connection: OpaquePointer) {
        guard let state = DiagnosticField.sqlState.read(result) else {
            // Errors of libpq itself have no SQLSTATE: the connection broke, or was used wrongly.
            self.init(code: .connectionLost, message: Self.connectionMessage(connection))
            return
        }
        let text = DiagnosticField.message.read(result) ?? ""
        self.init(code: .sqlState(state), message: Self.isQuotingData(state) ? "the server refused a value" : text)
        serverMessage = text
        constraint = DiagnosticField.constraint.read(result)
    }

    /// Returns libpq's error message of a connection, in one line.
    static func connectionMessage(_ connection: OpaquePointer?) -> String {
        guard let text = PQerrorMessage(connection) else { return "out of memory" }
        let line = String(cString: text).split(whereSeparator: \.isNewline).joined(separator: "; ")
        return line.isEmpty ? "the server closed the connection" : line
    }

    /// Whether the primary messages of this SQLSTATE quote values: class 22 is data exceptions, P0 is RAISE in PL/pgSQL.
    private static func isQuotingData(_ state: String) -> Bool {
        state.hasPrefix("22") || state.hasPrefix("P0")
    }
}
