import HTTPClient
import TestSupport
import Testing

/// A client with one origin, for the tests that both clients must pass.
protocol PostingClient: Sendable {
    /// Returns the response to a POST.
    func send(_ body: [UInt8]) async throws(HTTPClientError) -> HTTPClientResponse

    /// Returns the number of connections opened since the last call of this method; 0 when the responses tell it.
    func takeConnectionsOpened() -> Int
}

extension HTTP2Client: PostingClient {
    func send(_ body: [UInt8]) async throws(HTTPClientError) -> HTTPClientResponse {
        try await execute(HTTP2Request(path: "/"), body: body)
    }
}

/// An ``HTTPClient`` that sends all requests to one URL.
private struct SingleURLClient: PostingClient {
    let client: HTTPClient
    let request: HTTPClientRequest

    func send(_ body: [UInt8]) async throws(HTTPClientError) -> HTTPClientResponse {
        var request = request
        request.body = body
        return try await client.execute(request)
    }

    func takeConnectionsOpened() -> Int { 0 }
}

extension PostingClient {
    /// Returns the error of a POST, or nil when it succeeds.
    func error(sending body: [UInt8] = Array("hello".utf8)) async -> HTTPClientError? {
        do {
            _ = try await send(body)
            return nil
        } catch {
            return error
        }
    }

    /// Expects a POST to fail.
    func expectError(
        _ code: HTTPClientError.Code, mayHaveReachedServer: Bool, curlCode: Int? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async {
        let error = await error()
        #expect(error?.code == code, sourceLocation: sourceLocation)
        #expect(error?.mayHaveReachedServer == mayHaveReachedServer, sourceLocation: sourceLocation)
        #expect(error?.curlCode == curlCode, sourceLocation: sourceLocation)
    }
}

/// The clients of the module.
enum ClientKind: CaseIterable, Sendable {
    /// ``HTTPClient``.
    case curl
    /// ``HTTP2Client``.
    case nghttp2

    /// The settings that both clients have.
    struct Settings {
        var caFile: String?
        var timeout: Duration = .seconds(120)
        var maxConnections = 4
        var maxRequestsInFlight = 4096
        var maxResponseBodyByteCount = 64 * 1024
        var maxResponseHeadByteCount = 64 * 1024
    }

    /// Runs a test with a client of `origin`, and shuts it down afterwards.
    func withClient(
        _ origin: String, configure: (inout Settings) -> Void = { _ in }, _ body: (any PostingClient) async throws -> Void
    ) async throws {
        var settings = Settings()
        configure(&settings)
        switch self {
        case .curl:
            let apply = { (configuration: inout HTTPClientConfiguration) in
                configuration.caFile = settings.caFile
                configuration.maxConnectionsPerHost = settings.maxConnections
                configuration.maxRequestsInFlight = settings.maxRequestsInFlight
                configuration.maxResponseBodyByteCount = settings.maxResponseBodyByteCount
                configuration.maxResponseHeadByteCount = settings.maxResponseHeadByteCount
            }
            let request = HTTPClientRequest(method: "POST", url: origin + "/", timeout: settings.timeout)
            try await HTTPClientTests.withClient(.http2, configure: apply) { client in
                try await body(SingleURLClient(client: client, request: request))
            }
        case .nghttp2:
            let apply = { (configuration: inout HTTP2ClientConfiguration) in
                (configuration.caFile, configuration.timeout) = (settings.caFile, settings.timeout)
                configuration.maxConnections = settings.maxConnections
                configuration.maxRequestsInFlight = settings.maxRequestsInFlight
                configuration.maxResponseBodyByteCount = settings.maxResponseBodyByteCount
                configuration.maxResponseHeadByteCount = settings.maxResponseHeadByteCount
            }
            try await withHTTP2Client(origin, configure: apply) { client in try await body(client) }
        }
    }

    /// Starts a server that accepts requests and does not respond.
    func silentServer() async throws -> ScriptedServer {
        switch self {
        case .curl: try await .silent()
        case .nghttp2: try await FramePeer.server { peer in try await peer.waitForClose() }
        }
    }
}
