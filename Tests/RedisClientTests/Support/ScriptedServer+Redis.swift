import TestSupport

extension ScriptedServer {
    /// The answer to the log-in of a connection: `PING`, `CLIENT SETNAME`, `CLIENT ID`.
    static let welcome = "+PONG\r\n+OK\r\n:1\r\n"

    var redisURL: String { "redis://127.0.0.1:\(port)" }

    /// Starts a server that answers each read of a connection with a text; nil is silence.
    ///
    /// - Parameter answer: Receives the number of earlier connections, and the number of earlier reads of this connection.
    static func redis(_ answer: @escaping @Sendable (_ connection: Int, _ read: Int) -> String?) async throws -> ScriptedServer {
        try await ScriptedServer { connection in
            for read in 0... {
                _ = try await connection.read()
                if let text = answer(connection.number, read) { try await connection.write(text) }
            }
        }
    }
}
