import HTTPClient
import Logging
import TestSupport
import Testing

/// Runs a test with a client of `origin`, and shuts it down afterwards.
func withHTTP2Client<Value>(
    _ origin: String, iterationEnded: @escaping @Sendable () -> Void = {},
    configure: (inout HTTP2ClientConfiguration) -> Void = { _ in }, _ body: (HTTP2Client) async throws -> Value
) async throws -> Value {
    var configuration = HTTP2ClientConfiguration()
    configuration.timeout = .seconds(120)
    configuration.connectTimeout = .seconds(60)
    configuration.unacknowledgedTimeout = .seconds(120)
    configuration.shutdownGrace = .zero
    configure(&configuration)
    let client = HTTP2Client(origin: origin, configuration: configuration, logger: Logger(label: "test"), iterationEnded: iterationEnded)
    return try await finally(client.shutdown) { try await body(client) }
}

extension HTTP2Client {
    /// Returns the error of a POST, or nil when it succeeds.
    func failure(_ path: String = "/", body: String = "hello") async throws -> HTTPClientError? {
        let request = try HTTP2Request(path: path)
        do {
            _ = try await execute(request, body: Array(body.utf8))
            return nil
        } catch {
            return error
        }
    }

    /// Returns the response to a POST.
    func post(_ path: String = "/", body: [UInt8] = Array("hello".utf8)) async throws -> HTTPClientResponse {
        try await execute(HTTP2Request(path: path), body: body)
    }

    /// Expects the response to a POST to have a status.
    func expect(status: Int, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        #expect(try await post().status == status, sourceLocation: sourceLocation)
    }

    /// Expects a POST to fail.
    func expect(
        failure code: HTTPClientError.Code, mayHaveReachedServer: Bool? = nil, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let error = try await failure()
        #expect(error?.code == code, sourceLocation: sourceLocation)
        if let mayHaveReachedServer { #expect(error?.mayHaveReachedServer == mayHaveReachedServer, sourceLocation: sourceLocation) }
    }
}
