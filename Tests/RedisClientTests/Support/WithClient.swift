import Logging
import RedisClient
import TestSupport
import Testing

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
    return try await finally(client.shutdown) { try await body(client, RedisServer.uniquePrefix()) }
}

/// Calls `body` with a client of the server that all tests of this process share.
func withClient<Value>(_ body: (RedisClient, _ prefix: String) async throws -> Value) async throws -> Value {
    try await withClient(of: try await .shared(), body)
}

extension Logger {
    /// Discards all messages, because these tests provoke failures.
    static let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
}

extension RedisCommand {
    /// `XADD` with a list of fields.
    static func xadd(_ stream: String, fields: [(name: String, value: [UInt8])]) -> RedisCommand {
        RedisCommand("XADD", arguments: [stream, "*"] + fields.flatMap { [$0.name, $0.value] as [any RedisArgument] })
    }
}

extension RedisCommandSender {
    /// Asks for the server's number for the connection in use.
    func connectionNumber() async throws -> Int? {
        try await send(RedisCommand("CLIENT", "ID")).integer
    }

    /// Appends an entry and returns its id.
    @discardableResult
    func xadd(_ stream: String, fields: [(name: String, value: [UInt8])]) async throws -> RedisStreamID {
        try #require(RedisStreamID(try await send(.xadd(stream, fields: fields))))
    }

    func get(_ key: String) async throws(RedisError) -> [UInt8]? { try await send(RedisCommand("GET", key)).bytes }

    func set(_ key: String, _ value: [UInt8]) async throws(RedisError) { _ = try await send(RedisCommand("SET", key, value)) }
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

/// Expects `body` to fail.
func expectRedisError<Value>(
    _ code: RedisError.Code, mayHaveExecuted: Bool, sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () async throws -> Value
) async {
    let error = await redisError(body)
    #expect(error?.code == code, sourceLocation: sourceLocation)
    #expect(error?.mayHaveExecuted == mayHaveExecuted, sourceLocation: sourceLocation)
}

extension RedisClient {
    /// Calls `body` with a dedicated connection, and closes it afterwards.
    func withDedicatedConnection<Value>(_ body: (RedisConnection) async throws -> Value) async throws -> Value {
        let connection = try await dedicatedConnection()
        return try await finally(connection.close) { try await body(connection) }
    }
}
