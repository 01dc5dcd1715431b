import TestSupport

extension RedisServer {
    /// Makes the server hold back the next write command of each connection, and the commands after it.
    func pauseWrites() async throws {
        try await cli("CLIENT", "PAUSE", "60000", "WRITE")
    }

    func resumeWrites() async throws {
        try await cli("CLIENT", "UNPAUSE")
    }

    /// Waits until the server holds back a write command of a connection.
    func waitUntilWriteBlocks() async throws {
        try await eventually("a write is held back") {
            try await self.cli("CLIENT", "LIST").split(separator: "\n").contains { line in
                line.split(separator: " ").contains { $0.hasPrefix("flags=") && $0.contains("b") }
            }
        }
    }
}
