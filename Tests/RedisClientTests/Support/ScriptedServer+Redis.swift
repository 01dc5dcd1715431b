import TestSupport

extension ScriptedServer {
    var redisURL: String { "redis://127.0.0.1:\(port)" }

    /// Starts a server that takes the log-in of each connection (`PING`, `CLIENT SETNAME`, `CLIENT ID`) and answers each later command
    /// with a text; nil is silence.
    ///
    /// - Parameter answer: Receives the number of earlier connections.
    static func redis(_ answer: @escaping @Sendable (_ connection: Int) -> String?) async throws -> ScriptedServer {
        try await redis { connection, command in command < welcome.count ? welcome[command] : answer(connection) }
    }

    /// Starts a server that answers each command of a connection with a text; nil is silence.
    ///
    /// - Parameter answer: Receives the number of earlier connections, and the number of earlier commands of this connection.
    static func redis(_ answer: @escaping @Sendable (_ connection: Int, _ command: Int) -> String?) async throws -> ScriptedServer {
        try await ScriptedServer { connection in
            // A read may bring a part of a command, or several.
            var bytes: [UInt8] = []
            for command in 0... {
                while !removeCommand(from: &bytes) { bytes += try await connection.read() }
                if let text = answer(connection.number, command) { try await connection.write(text) }
            }
        }
    }

    /// The answers to the log-in of a connection.
    static let welcome = ["+PONG\r\n", "+OK\r\n", ":1\r\n"]

    /// Removes the first command, an array of texts; false while it is not whole.
    private static func removeCommand(from bytes: inout [UInt8]) -> Bool {
        var rest = bytes[...]
        /// Removes a line and returns the number that follows its mark.
        func number() -> Int? {
            guard let end = rest.firstRange(of: Array("\r\n".utf8)) else { return nil }
            defer { rest = rest[end.upperBound...] }
            return Int(String(decoding: rest[..<end.lowerBound].dropFirst(), as: UTF8.self))
        }
        guard let count = number() else { return false }
        for _ in 0..<count {
            guard let length = number(), rest.count >= length + 2 else { return false }
            rest = rest.dropFirst(length + 2)
        }
        bytes = Array(rest)
        return true
    }
}
