import Logging
import RedisClient
import TestSupport

/// Calls `body` with a client of a server, and with a prefix for keys that no other test has; shuts the client down afterwards.
func withClient<Value>(
    of server: RedisServer, adjust: (inout RedisConfiguration) -> Void = { _ in },
    _ body: (RedisClient, _ prefix: String) async throws -> Value
) async throws -> Value {
    try await withClient(url: server.url, adjust: adjust, body)
}

/// Calls `body` with a client of the server at a URL.
func withClient<Value>(
    url: String, adjust: (inout RedisConfiguration) -> Void = { _ in },
    _ body: (RedisClient, _ prefix: String) async throws -> Value
) async throws -> Value {
    var configuration = try RedisConfiguration(url: url)
    // Generous limits, which end only a command that hangs, unless a test sets others.
    (configuration.connectTimeout, configuration.commandTimeout) = (.seconds(60), .seconds(60))
    configuration.stallTimeout = .seconds(120)
    adjust(&configuration)
    let client = RedisClient(configuration: configuration, logger: .quiet)
    do {
        let value = try await body(client, RedisServer.uniquePrefix())
        await client.shutdown()
        return value
    } catch {
        await client.shutdown()
        throw error
    }
}

/// Calls `body` with a client of the server that all tests of this process share.
func withClient<Value>(_ body: (RedisClient, _ prefix: String) async throws -> Value) async throws -> Value {
    try await withClient(of: try await .shared(), body)
}

extension Logger {
    /// Discards all messages, because these tests provoke failures.
    static let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
}

extension RedisCommandSender {
    /// Asks for the server's number for the connection in use.
    func connectionNumber() async throws -> Int? {
        try await send(RedisCommand("CLIENT", "ID")).integer
    }
}

/// Returns the error that `body` throws; `nil` when it throws none.
func redisError<Value>(_ body: () async throws -> Value) async -> RedisError? {
    do {
        _ = try await body()
        return nil
    } catch {
        return error as? RedisError
    }
}
