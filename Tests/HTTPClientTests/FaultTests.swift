import HTTPClient
import TestSupport
import Testing

@Suite struct FaultTests {
    static func post(_ url: String, timeout: Duration = .seconds(60)) -> HTTPClientRequest {
        HTTPClientRequest(method: "POST", url: url, body: Array("hello".utf8), timeout: timeout)
    }

    @Test func `a timeout while waiting for a connection is one of a request that was not sent`() async throws {
        let server = try await ScriptedServer.silent()
        try await withClient(configure: { $0.maxConnectionsPerHost = 1 }) { client in
            // libcurl 7.88 checks a request that waits for a connection only when one becomes free.
            async let first = failure(client, Self.post(server.url, timeout: .seconds(6)))
            await server.waitForConnections(1)
            await expect(client, Self.post(server.url, timeout: .milliseconds(100)), failsAs: .timeout, mayHaveReachedServer: false)
            #expect(await first?.mayHaveReachedServer == true)
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
        "nonsense\r\n\r\n", "",
    ])
    func `a truncated, malformed or missing response before the end of the connection is ambiguous`(answer: String) async throws {
        let server = try await ScriptedServer { connection in
            _ = try await connection.readRequest()
            try await connection.write(answer)
        }
        try await withClient { client in
            await expect(client, Self.post(server.url), failsAs: .ambiguous, mayHaveReachedServer: true)
        }
    }

    @Test func `a body over the limit is refused`() async throws {
        let server = try await ScriptedServer { connection in
            _ = try await connection.readRequest()
            try await connection.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            while true { try await connection.write("100\r\n" + String(repeating: "x", count: 256) + "\r\n") }
        }
        try await withClient(configure: { $0.maxResponseBodyByteCount = 1000 }) { client in
            await expect(client, Self.post(server.url), failsAs: .responseTooLarge, mayHaveReachedServer: true)
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
}
