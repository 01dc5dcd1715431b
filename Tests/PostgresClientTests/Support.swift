import Logging
import PostgresClient
import TestSupport

/// Runs the body with a client on a new, empty database.
func withClient(
    _ adjust: (inout PostgresConfiguration) -> Void = { _ in },
    _ body: (PostgresClient) async throws -> Void
) async throws {
    try await withEmptyDatabase { database in
        try await withClient(to: database.url, adjust, body)
    }
}

/// Runs the body with a client on a given database, and shuts it down.
func withClient(
    to url: String, _ adjust: (inout PostgresConfiguration) -> Void = { _ in },
    _ body: (PostgresClient) async throws -> Void
) async throws {
    var configuration = PostgresConfiguration(url: url)
    configuration.applicationName = "test-client"
    adjust(&configuration)
    let client = try PostgresClient(configuration: configuration, logger: quietLogger)
    try await finally(client.shutdown) { try await body(client) }
}

/// A logger that only logs errors.
let quietLogger: Logger = {
    var logger = Logger(label: "postgres")
    logger.logLevel = .error
    return logger
}()

/// Returns the error that `body` throws; nil when it throws none.
func postgresError<Value>(_ body: () async throws -> Value) async -> PostgresError? {
    do {
        _ = try await body()
        return nil
    } catch {
        return error as? PostgresError
    }
}
