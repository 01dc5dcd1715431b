import HTTPClient
import Logging
import TestSupport
import Testing

/// Runs a test with a client that may speak plain HTTP, and shuts it down afterwards.
func withClient<Value>(
    _ version: HTTPClientConfiguration.Version = .http1,
    configure: (inout HTTPClientConfiguration) -> Void = { _ in },
    _ body: (HTTPClient) async throws -> Value
) async throws -> Value {
    var configuration = HTTPClientConfiguration()
    configuration.version = version
    configuration.allowedSchemes = ["http", "https"]
    configuration.connectTimeout = .seconds(60)
    configuration.shutdownGrace = .zero
    configure(&configuration)
    let client = HTTPClient(configuration: configuration, logger: Logger(label: "test"))
    return try await finally(client.shutdown) { try await body(client) }
}

/// Returns the error of a request, or nil when it succeeds.
func failure(_ client: HTTPClient, _ request: HTTPClientRequest) async -> HTTPClientError? {
    do {
        _ = try await client.execute(request)
        return nil
    } catch {
        return error
    }
}

/// Expects a request to fail.
func expect(
    _ client: HTTPClient, _ request: HTTPClientRequest, failsAs code: HTTPClientError.Code, mayHaveReachedServer: Bool,
    sourceLocation: SourceLocation = #_sourceLocation
) async {
    let error = await failure(client, request)
    #expect(error?.code == code, sourceLocation: sourceLocation)
    #expect(error?.mayHaveReachedServer == mayHaveReachedServer, sourceLocation: sourceLocation)
}

extension ScriptedServer {
    /// Starts a server that reads a request on each connection and does not answer.
    static func silent() async throws -> ScriptedServer {
        try await ScriptedServer { connection in
            _ = try await connection.readRequest()
            try await connection.waitForClose()
        }
    }
}
