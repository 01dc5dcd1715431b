import TestSupport

extension RedisServer {
    /// Makes connections wait at their next write, with all that they sent after it.
    func pauseWrites() async throws {
        try await cli("CLIENT", "PAUSE", "60000", "WRITE")
    }

    func resumeWrites() async throws {
        try await cli("CLIENT", "UNPAUSE")
    }

    /// Waits until a connection waits with a write.
    func untilWriteWaits() async throws {
        try await eventually("a write waits") {
            try await self.cli("CLIENT", "LIST").split(separator: "\n").contains { line in
                line.split(separator: " ").contains { $0.hasPrefix("flags=") && $0.contains("b") }
            }
        }
    }
}
