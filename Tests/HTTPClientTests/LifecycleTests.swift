import HTTPClient
import Logging
import TestSupport
import Testing

@Suite struct LifecycleTests {
    @Test func `a cancelled task resumes at once and its connection is released`() async throws {
        let server = try await ScriptedServer.silent()
        try await withClient { client in
            let request = FaultTests.post(server.url, timeout: .seconds(600))
            let task = Task { await failure(client, request) }
            await server.waitForConnections(1)
            let start = ContinuousClock.now
            task.cancel()
            #expect(await task.value?.code == .cancelled)
            #expect(ContinuousClock.now - start < .seconds(60))
        }
    }

    @Test func `cancelling one request does not affect the others`() async throws {
        let server = try await ScriptedServer { connection in
            let request = try await connection.readRequest()
            if request.hasPrefix("GET /hang") { try await connection.waitForClose() }
            try await connection.write(RequestTests.ok)
            try await connection.waitForClose()
        }
        try await withClient { client in
            let hanging = Task { await failure(client, HTTPClientRequest(url: server.url + "hang", timeout: .seconds(60))) }
            await server.waitForConnections(1)
            async let other = client.execute(HTTPClientRequest(url: server.url))
            hanging.cancel()
            #expect(await hanging.value?.code == .cancelled)
            let response = try await other
            #expect(response.status == 200)
        }
    }

    @Test func `a shutdown lets calls in flight finish`() async throws {
        let release = AsyncStream<Void>.makeStream()
        let server = try await ScriptedServer { connection in
            _ = try await connection.readRequest()
            for await _ in release.stream { break }
            try await connection.write(RequestTests.ok)
            try await connection.waitForClose()
        }
        try await withClient(configure: { $0.shutdownGrace = .seconds(120) }) { client in
            async let response = client.execute(HTTPClientRequest(url: server.url))
            await server.waitForConnections(1)
            async let shutdown: Void = client.shutdown()
            try await eventually("the client refuses new calls") {
                await failure(client, HTTPClientRequest(url: "http://127.0.0.1:1/"))?.code == .shutDown
            }
            release.continuation.yield()
            #expect(try await response.status == 200)
            await shutdown
        }
    }

    @Test func `a shutdown fails calls that do not finish within the grace`() async throws {
        let server = try await ScriptedServer.silent()
        try await withClient(configure: { $0.shutdownGrace = .milliseconds(50) }) { client in
            async let error = failure(client, FaultTests.post(server.url, timeout: .seconds(60)))
            await server.waitForConnections(1)
            await client.shutdown()
            #expect(await error?.code == .shutDown)
        }
    }

    @Test func `a released client fails its calls in flight and ends`() async throws {
        let server = try await ScriptedServer.silent()
        var configuration = HTTPClientConfiguration()
        configuration.allowedSchemes = ["http"]
        weak var released: HTTPClient?
        do {
            let client = HTTPClient(configuration: configuration, logger: Logger(label: "test"))
            released = client
            let task = Task { await failure(client, FaultTests.post(server.url, timeout: .milliseconds(50))) }
            #expect(await task.value?.code == .timeout)
        }
        try await eventually("the client is released") { released == nil }
    }
}
