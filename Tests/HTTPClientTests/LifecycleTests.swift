import HTTPClient
import Logging
import TestSupport
import Testing

@Suite struct LifecycleTests {
    static func hangingServer() async throws -> ScriptedServer {
        try await ScriptedServer { connection in
            _ = try await connection.readRequest()
            try await connection.waitForClose()
        }
    }

    @Test func `a cancelled task resumes at once and its connection is released`() async throws {
        let server = try await Self.hangingServer()
        try await withClient { client in
            let request = FaultTests.post(server.url, timeout: .seconds(600))
            let task = Task { await failure(client, request) }
            try await eventually("the request is in flight") { server.connectionCount == 1 }
            let start = ContinuousClock.now
            task.cancel()
            let error = await task.value
            #expect(error?.code == .cancelled)
            #expect(ContinuousClock.now - start < .seconds(60))
        }
    }

    @Test func `a task that is cancelled beforehand fails as cancelled and sends nothing`() async throws {
        let server = try await Self.hangingServer()
        try await withClient { client in
            let request = FaultTests.post(server.url, timeout: .seconds(60))
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return await failure(client, request)
            }
            let error = await task.value
            #expect(error?.code == .cancelled)
            #expect(error?.mayHaveReachedServer == false)
            #expect(server.connectionCount == 0)
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
            try await eventually("the request is in flight") { server.connectionCount == 1 }
            async let other = client.execute(HTTPClientRequest(url: server.url))
            hanging.cancel()
            #expect(await hanging.value?.code == .cancelled)
            #expect(try await other.status == 200)
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
            try await eventually("the request is in flight") { server.connectionCount == 1 }
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
        let server = try await Self.hangingServer()
        try await withClient(configure: { $0.shutdownGrace = .milliseconds(50) }) { client in
            async let error = failure(client, FaultTests.post(server.url, timeout: .seconds(60)))
            try await eventually("the request is in flight") { server.connectionCount == 1 }
            await client.shutdown()
            #expect(await error?.code == .shutDown)
        }
    }

    @Test func `a released client fails its calls in flight and ends`() async throws {
        let server = try await Self.hangingServer()
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

    @Test func `with many cancellations at random moments every caller resumes once`() async throws {
        let server = try await ScriptedServer { connection in
            while true {
                _ = try await connection.readRequest()
                try await connection.write(RequestTests.ok)
            }
        }
        try await withClient { client in
            let answered = await withTaskGroup(of: Bool.self) { group in
                for index in 0..<300 {
                    let task = Task { await failure(client, HTTPClientRequest(url: server.url, timeout: .seconds(600))) }
                    group.addTask {
                        for _ in 0..<(index % 20) { await Task.yield() }
                        if index % 2 == 0 { task.cancel() }
                        let code = await task.value?.code
                        return code == nil || code == .cancelled
                    }
                }
                return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
            }
            #expect(answered == 300)
        }
    }
}
