import HTTPClient
import Logging

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
    do {
        let value = try await body(client)
        await client.shutdown()
        return value
    } catch {
        await client.shutdown()
        throw error
    }
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
