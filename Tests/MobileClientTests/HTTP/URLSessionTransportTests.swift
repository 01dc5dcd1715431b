import Foundation
import Testing

@testable import MobileClient

@Suite(.timeLimit(.minutes(5))) struct URLSessionTransportTests {
    let transport = URLSessionTransport()

    private func failure(
        _ code: TransportError.Code, _ body: () async throws -> TransportResponse, sourceLocation: SourceLocation = #_sourceLocation
    ) async {
        let error = await #expect(throws: TransportError.self, sourceLocation: sourceLocation) { try await body() }
        #expect(error?.code == code, "\(String(describing: error))", sourceLocation: sourceLocation)
    }

    @Test func `a request arrives with its method, path, headers and body`() async throws {
        let server = try LocalServer { _, connection in
            connection.answer("201 Created", ["X-Request-ID": "r1", "Content-Type": "text/plain"], "done")
        }
        let response = try await transport.send(
            TransportRequest(
                "POST", server.url.appendingPathComponent("v1/x"), headers: ["Authorization": "Bearer t", "X-A": "b"],
                body: .data(Data("hello".utf8))), maxBytes: 100)
        #expect(response.status == 201 && response.headers["x-request-id"] == "r1" && response.body == Data("done".utf8))
        let received = try #require(server.received.first)
        #expect(received.method == "POST" && received.target == "/v1/x" && received.body == Data("hello".utf8))
        #expect(received.headers["authorization"] == "Bearer t" && received.headers["x-a"] == "b")
    }

    @Test(arguments: ["GET", "PUT", "DELETE", "PATCH"]) func `each method is sent as it is`(method: String) async throws {
        let server = try LocalServer { _, connection in connection.answer() }
        _ = try await transport.send(TransportRequest(method, server.url), maxBytes: 10)
        #expect(server.received.map(\.method) == [method])
    }

    @Test func `the answer to HEAD has a length and no body`() async throws {
        let server = try LocalServer { _, connection in
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 5000\r\nConnection: close\r\n\r\n")
        }
        let response = try await transport.send(TransportRequest("HEAD", server.url), maxBytes: 10)
        #expect(response.status == 200 && response.body.isEmpty && response.headers["content-length"] == "5000")
    }

    @Test func `a file is sent as it is`() async throws {
        let folder = try TemporaryFolder()
        let file = folder.url.appendingPathComponent("body")
        let content = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) })
        try content.write(to: file)
        let server = try LocalServer { _, connection in connection.answer() }
        _ = try await transport.send(TransportRequest("POST", server.url, body: .file(file)), maxBytes: 10)
        #expect(server.received.first?.body == content)
    }

    @Test func `a file that does not exist is an error`() async throws {
        let folder = try TemporaryFolder()
        let server = try LocalServer { _, connection in connection.answer() }
        for file in [folder.url.appendingPathComponent("none"), folder.url] {
            await failure(.file) { try await transport.send(TransportRequest("POST", server.url, body: .file(file)), maxBytes: 10) }
        }
        #expect(server.received.isEmpty)
    }

    @Test func `a longer answer than declared as allowed is refused`() async throws {
        let server = try LocalServer { _, connection in connection.answer("200 OK", [:], String(repeating: "a", count: 101)) }
        await failure(.tooLong) { try await transport.send(TransportRequest("GET", server.url), maxBytes: 100) }
        #expect(try await transport.send(TransportRequest("GET", server.url), maxBytes: 101).body.count == 101)
    }

    @Test func `an answer without a length is refused while it arrives`() async throws {
        let server = try LocalServer { _, connection in
            connection.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            // Without an end: only a limit ends this.
            while connection.write("4000\r\n\(String(repeating: "a", count: 0x4000))\r\n") {}
        }
        await failure(.tooLong) { try await transport.send(TransportRequest("GET", server.url), maxBytes: 100_000) }
    }

    @Test(arguments: [
        "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhalf",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n", "",
    ])
    // Not within the head: URLSession on Linux ends the process then (NativeProtocol: "Transfer completed, but there's no response").
    func `an answer that is cut off is an error`(answer: String) async throws {
        let server = try LocalServer { _, connection in connection.write(answer) }
        await failure(.connectionLost) { try await transport.send(TransportRequest("GET", server.url), maxBytes: 1000) }
    }

    @Test func `a host that does not listen is not connected`() async throws {
        let port = try LocalServer { _, _ in }.port
        let url = try #require(URL(string: "http://127.0.0.1:\(port)"))
        await failure(.notConnected) { try await transport.send(TransportRequest("GET", url), maxBytes: 10) }
    }

    @Test(arguments: ["", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf"])
    func `an answer that stalls times out`(answer: String) async throws {
        let server = try LocalServer { _, connection in
            connection.write(answer)
            connection.waitForEnd()
        }
        let request = TransportRequest("GET", server.url, timeout: .milliseconds(200))
        await failure(.timedOut) { try await transport.send(request, maxBytes: 1000) }
    }

    @Test func `a slow answer does not time out while it moves`() async throws {
        let server = try LocalServer { _, connection in
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 8\r\nConnection: close\r\n\r\n")
            // Real time, as URLSession has no other: longer than the timeout in all, and each part far below it on a busy machine too.
            for _ in 0..<8 {
                Thread.sleep(forTimeInterval: 0.4)
                connection.write("a")
            }
        }
        let request = TransportRequest("GET", server.url, timeout: .milliseconds(2_500))
        #expect(try await transport.send(request, maxBytes: 10).body.count == 8)
    }

    @Test(arguments: ["301 Moved Permanently", "302 Found", "303 See Other", "307 Temporary Redirect", "308 Permanent Redirect"])
    func `a redirection is the answer, and is not followed`(status: String) async throws {
        let other = try LocalServer { _, connection in connection.answer() }
        let target = other.url.appendingPathComponent("elsewhere").absoluteString
        let server = try LocalServer { _, connection in connection.answer(status, ["Location": target]) }
        let response = try await transport.send(TransportRequest("GET", server.url, headers: ["Authorization": "Bearer t"]), maxBytes: 10)
        #expect(response.status == Int(status.prefix(3)) && response.headers["location"] == target)
        #expect(other.received.isEmpty)
    }

    @Test func `cookies and cached answers are not used`() async throws {
        let server = try LocalServer { _, connection in
            connection.answer("200 OK", ["Set-Cookie": "a=b; Path=/", "Cache-Control": "max-age=600", "ETag": "\"x\""], "1")
        }
        for _ in 0..<2 { _ = try await transport.send(TransportRequest("GET", server.url), maxBytes: 10) }
        #expect(server.received.count == 2)
        #expect(server.received.allSatisfy { $0.headers["cookie"] == nil && $0.headers["if-none-match"] == nil })
    }

    @Test(arguments: [nil, "Bearer", "Basic realm=\"x\"", "Digest realm=\"x\", nonce=\"y\"", "Negotiate"])
    func `a challenge is the answer 401`(challenge: String?) async throws {
        let server = try LocalServer { _, connection in
            connection.answer("401 Unauthorized", challenge.map { ["WWW-Authenticate": $0] } ?? [:], "refused")
        }
        let response = try await transport.send(TransportRequest("GET", server.url, headers: ["Authorization": "Bearer t"]), maxBytes: 100)
        #expect(response.status == 401 && server.received.count == 1)
        if challenge?.hasPrefix("B") != true || challenge == "Bearer" { #expect(response.body == Data("refused".utf8)) }
    }

    @Test func `a header cannot begin another one`() async throws {
        let server = try LocalServer { _, connection in connection.answer() }
        for headers: TransportHeaders in [["X-A": "b\r\nX-C: d"], ["X-A\r\nX-C": "d"], ["X-A": "b\nc"], ["": "b"]] {
            await failure(.other) { try await transport.send(TransportRequest("GET", server.url, headers: headers), maxBytes: 10) }
        }
        #expect(server.received.isEmpty)
    }

    @Test func `many requests at once get their own answers`() async throws {
        let server = try LocalServer { request, connection in connection.answer("200 OK", [:], request.target) }
        try await withThrowingTaskGroup(of: (String, String).self) { [transport] group in
            for number in 0..<50 {
                group.addTask {
                    let url = server.url.appendingPathComponent("\(number)")
                    return (
                        "/\(number)",
                        String(decoding: try await transport.send(TransportRequest("GET", url), maxBytes: 100).body, as: UTF8.self)
                    )
                }
            }
            for try await (target, body) in group { #expect(body == target) }
        }
    }
}
