import HTTPClient
import TestSupport
import Testing

/// Tests against nghttpd, a third-party HTTP/2 server.
@Suite struct HTTP2Tests {
    @Test func `HTTP 2 is negotiated and the response is whole`() async throws {
        let server = try await NGHTTPServer()
        try await withClient(.http2, configure: { $0.caFile = server.authority }) { client in
            let response = try await client.execute(HTTPClientRequest(url: server.url + "file.txt", timeout: .seconds(120)))
            #expect(response.status == 200)
            #expect(response.httpVersion == .http2)
            #expect(String(decoding: response.body, as: UTF8.self) == "file")
            #expect(try await client.execute(HTTPClientRequest(url: server.url + "none", timeout: .seconds(120))).status == 404)
        }
    }

    @Test func `a thousand requests share few connections`() async throws {
        let server = try await NGHTTPServer()
        try await withClient(.http2, configure: { $0.caFile = server.authority }) { client in
            let url = server.url
            let opened = try await withThrowingTaskGroup(of: Int.self) { group in
                for index in 0..<1000 {
                    group.addTask {
                        let body = Array("request \(index)".utf8)
                        let response = try await client.execute(
                            HTTPClientRequest(method: "POST", url: url, body: body, timeout: .seconds(120)))
                        #expect(response.body == body)
                        return response.connectionsOpened
                    }
                }
                return try await group.reduce(0, +)
            }
            #expect((1...4).contains(opened))
        }
    }

    @Test func `a large body is sent and received`() async throws {
        let server = try await NGHTTPServer()
        let body = (0..<900_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        try await withClient(.http2, configure: { $0.caFile = server.authority }) { client in
            let response = try await client.execute(
                HTTPClientRequest(method: "POST", url: server.url, body: body, timeout: .seconds(120)))
            #expect(response.body == body)
        }
    }

    @Test func `a server with a certificate of an unknown authority is refused`() async throws {
        let server = try await NGHTTPServer()
        try await withClient(.http2) { client in
            let error = await failure(client, FaultTests.post(server.url))
            #expect(error?.code == .notSent)
            #expect(error?.curlCode == 60)
        }
    }

    @Test func `the client reconnects to a restarted server`() async throws {
        let server = try await NGHTTPServer()
        try await withClient(.http2, configure: { $0.caFile = server.authority }) { client in
            #expect(try await client.execute(FaultTests.post(server.url)).status == 200)
            server.process.signal(9)
            try await eventually("requests fail") { await failure(client, FaultTests.post(server.url)) != nil }
            await server.process.stop()
            let again = try await NGHTTPServer(port: server.port, directory: server.directory)
            #expect(try await client.execute(FaultTests.post(again.url)).status == 200)
        }
    }

    @Test func `the server's limit of concurrent streams is respected`() async throws {
        let server = try await NGHTTPServer(arguments: ["--max-concurrent-streams=5"])
        let configure = { (configuration: inout HTTPClientConfiguration) in
            (configuration.caFile, configuration.maxConnectionsPerHost) = (server.authority, 1)
        }
        try await withClient(.http2, configure: configure) { client in
            let url = server.url
            // libcurl 7.88 starts a hundred streams before it knows a new connection's limit, and fails those refused five times.
            #expect(try await client.execute(FaultTests.post(url)).status == 200)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<200 {
                    group.addTask {
                        let response = try await client.execute(FaultTests.post(url))
                        #expect(response.status == 200)
                    }
                }
                try await group.waitForAll()
            }
        }
    }
}
