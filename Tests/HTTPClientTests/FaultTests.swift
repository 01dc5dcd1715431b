import HTTPClient
import TestSupport
import Testing

@Suite struct FaultTests {
    static func post(_ url: String, timeout: Duration = .seconds(60)) -> HTTPClientRequest {
        HTTPClientRequest(method: "POST", url: url, body: Array("hello".utf8), timeout: timeout)
    }

    @Test func `a refused connection fails as not sent`() async throws {
        let port = try FreePort.find()
        try await withClient { client in
            let error = await failure(client, Self.post("http://127.0.0.1:\(port)/"))
            #expect(error?.code == .notSent)
            #expect(error?.mayHaveReachedServer == false)
            #expect(error?.curlCode == 7)
        }
    }

    @Test func `an unresolvable host fails as not sent`() async throws {
        // A lost query to a name server costs five seconds.
        try await withClient(configure: { $0.connectTimeout = .seconds(60) }) { client in
            let error = await failure(client, Self.post("http://no-such-host.invalid/", timeout: .seconds(120)))
            #expect(error?.code == .notSent)
            #expect(error?.mayHaveReachedServer == false)
        }
    }

    @Test func `a missing response is a timeout of a request that was sent`() async throws {
        let server = try await ScriptedServer { connection in
            _ = try await connection.readRequest()
            try await connection.waitForClose()
        }
        try await withClient { client in
            let error = await failure(client, Self.post(server.url, timeout: .seconds(5)))
            #expect(error?.code == .timeout)
            #expect(error?.mayHaveReachedServer == true)
        }
    }

    @Test func `a timeout while waiting for a connection is one of a request that was not sent`() async throws {
        let server = try await ScriptedServer { connection in
            _ = try await connection.readRequest()
            try await connection.waitForClose()
        }
        try await withClient(configure: { $0.maxConnectionsPerHost = 1 }) { client in
            // libcurl 7.88 checks a request that waits for a connection only when one becomes free.
            async let first = failure(client, Self.post(server.url, timeout: .seconds(6)))
            try await eventually("the first request has the only connection") { server.connectionCount == 1 }
            let second = await failure(client, Self.post(server.url, timeout: .milliseconds(100)))
            #expect(second?.code == .timeout)
            #expect(second?.mayHaveReachedServer == false)
            #expect(await first?.mayHaveReachedServer == true)
        }
    }

    @Test func `a connection that closes after the request is ambiguous`() async throws {
        let server = try await ScriptedServer { connection in _ = try await connection.readRequest() }
        try await withClient { client in
            let error = await failure(client, Self.post(server.url))
            #expect(error?.code == .ambiguous)
            #expect(error?.mayHaveReachedServer == true)
        }
    }

    @Test func `a GET whose response is lost is ambiguous too`() async throws {
        let server = try await ScriptedServer { connection in _ = try await connection.readRequest() }
        try await withClient { client in
            #expect(await failure(client, HTTPClientRequest(url: server.url))?.code == .ambiguous)
        }
    }

    @Test(arguments: [
        "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
        "nonsense\r\n\r\n",
    ])
    func `a truncated or malformed response is ambiguous`(answer: String) async throws {
        let server = try await ScriptedServer { connection in
            _ = try await connection.readRequest()
            try await connection.write(answer)
        }
        try await withClient { client in
            let error = await failure(client, Self.post(server.url))
            #expect(error?.code == .ambiguous)
            #expect(error?.mayHaveReachedServer == true)
        }
    }

    @Test func `a body over the limit is refused`() async throws {
        let server = try await ScriptedServer { connection in
            _ = try await connection.readRequest()
            try await connection.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            while true { try await connection.write("100\r\n" + String(repeating: "x", count: 256) + "\r\n") }
        }
        try await withClient(configure: { $0.maxResponseBodyByteCount = 1000 }) { client in
            let error = await failure(client, Self.post(server.url))
            #expect(error?.code == .responseTooLarge)
            #expect(error?.mayHaveReachedServer == true)
        }
    }

    @Test func `a body at the limit is received`() async throws {
        let server = try await ScriptedServer { connection in
            _ = try await connection.readRequest()
            try await connection.write("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n" + String(repeating: "x", count: 1000))
            try await connection.waitForClose()
        }
        try await withClient(configure: { $0.maxResponseBodyByteCount = 1000 }) { client in
            let response = try await client.execute(Self.post(server.url))
            #expect(response.body.count == 1000)
        }
    }

    @Test func `a header block over the limit is refused`() async throws {
        let server = try await ScriptedServer { connection in
            _ = try await connection.readRequest()
            try await connection.write("HTTP/1.1 200 OK\r\n")
            while true { try await connection.write("X-Filler: " + String(repeating: "x", count: 500) + "\r\n") }
        }
        try await withClient(configure: { $0.maxResponseHeadByteCount = 2000 }) { client in
            #expect(await failure(client, Self.post(server.url))?.code == .responseTooLarge)
        }
    }

    @Test func `more requests than allowed are refused as not sent`() async throws {
        let server = try await ScriptedServer { connection in try await connection.waitForClose() }
        try await withClient(configure: { $0.maxRequestsInFlight = 1 }) { client in
            let request = Self.post(server.url, timeout: .seconds(60))
            let first = Task { await failure(client, request) }
            try await eventually("the first request is in flight") { server.connectionCount == 1 }
            let second = await failure(client, Self.post(server.url))
            #expect(second?.code == .notSent)
            first.cancel()
            #expect(await first.value?.code == .cancelled)
        }
    }
}
