import HTTPClient
import TestSupport
import Testing

/// Tests against nghttpd, a third-party HTTP/2 server.
@Suite struct ServerTests {
    @Test(arguments: [true, false])
    func `a body is echoed whole, with and without TLS`(isTLS: Bool) async throws {
        let server = try await NGHTTPServer(isTLS: isTLS)
        try await withHTTP2Client(server.origin, configure: { if isTLS { $0.caFile = server.authority } }) { client in
            let response = try await client.post(body: Array("there and back".utf8))
            #expect(response.status == 200)
            #expect(response.httpVersion == .http2)
            #expect(String(decoding: response.body, as: UTF8.self) == "there and back")
            #expect(client.takeConnectionsOpened() == 1)
        }
    }

    @Test func `a GET has no body, and an error response has its header fields`() async throws {
        let server = try await NGHTTPServer(isTLS: false)
        try await withHTTP2Client(server.origin) { client in
            let file = try await client.execute(HTTP2Request(method: "GET", path: "/file.txt"), body: [])
            #expect(String(decoding: file.body, as: UTF8.self) == "file")
            #expect(file.headers.isEmpty)
            let none = try await client.execute(HTTP2Request(method: "GET", path: "/none"), body: [])
            #expect(none.status == 404)
            #expect(none.header("Server")?.hasPrefix("nghttpd") == true)
        }
    }

    @Test(arguments: [true, false])
    func `a body larger than all windows is sent and received`(isTLS: Bool) async throws {
        let server = try await NGHTTPServer(isTLS: isTLS)
        let body = (0..<900_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        try await withHTTP2Client(
            server.origin,
            configure: {
                if isTLS { $0.caFile = server.authority }
                $0.maxResponseBodyByteCount = 1 << 20
            }
        ) { client in
            async let other = client.post(body: body)
            let bodies = try await [client.post(body: body).body, other.body]
            #expect(bodies == [body, body])
        }
    }

    @Test func `a silent server's connection fails before its requests time out`() async throws {
        let server = try await NGHTTPServer(isTLS: false)
        try await withHTTP2Client(server.origin, configure: { $0.unacknowledgedTimeout = .seconds(6) }) { client in
            try await client.expect(status: 200)
            server.process.signal(19)  // SIGSTOP: the kernel still acknowledges received bytes.
            let error = try await client.failure()
            server.process.signal(18)
            #expect(error?.code == .ambiguous)
            #expect(error?.mayHaveReachedServer == true)
        }
    }
}
