import FCMEmulator
import HTTPClient
import JSON
import NIOCore
import NIOPosix
import TestSupport
import Testing

@Suite struct ProtocolTests {
    private var fixture: Fixture { .current }

    private func body(_ token: String) -> String { #"{"message":{"token":"\#(token)"}}"# }

    /// Sends a message with curl over HTTP/2 without TLS and returns the version and status that curl prints.
    private func sendByPriorKnowledge(_ fixture: Fixture, _ token: String) async throws -> String {
        try await CommandLineTool.run([
            "curl", "-sS", "--http2-prior-knowledge", "-o", "/dev/null", "-w", "%{http_version} %{http_code}",
            "-H", "Authorization: Bearer " + fixture.emulator.issueAccessToken(), "-d", body(token),
            fixture.emulator.url + "/v1/projects/heliograph-dev/messages:send",
        ])
    }

    @Test(.emulator) func `the plain listener speaks HTTP/2 by prior knowledge`() async throws {
        let token = fixture.emulator.mintToken()
        #expect(try await sendByPriorKnowledge(fixture, token) == "2 200")
        #expect(await fixture.emulator.messages(to: token).count == 1)
    }

    @Test(.emulator) func `the control API answers over HTTP/2 too`() async throws {
        let url = try #require(fixture.emulator.tlsURL) + "/control/statistics"
        let answer = try await fixture.client.execute(HTTPClientRequest(method: "GET", url: url))
        #expect(answer.status == 200 && answer.httpVersion == .http2)
        #expect(try JSONValue(parsing: answer.body)["sends"] == 0)
        let missing = HTTPClientRequest(method: "PUT", url: try #require(fixture.emulator.tlsURL) + "/x")
        #expect(try await fixture.client.execute(missing).status == 404)
    }

    @Test(.emulator) func `Google's endpoints answer over HTTP/1.1 too`() async throws {
        let token = fixture.emulator.mintToken()
        let answer = try await fixture.client.execute(
            HTTPClientRequest(
                method: "POST", url: fixture.emulator.url + "/v1/projects/438712605913/messages:send",
                headers: [("authorization", "Bearer " + fixture.emulator.issueAccessToken())],
                body: Array(body(token).utf8)))
        #expect(answer.status == 200)
        #expect(String(decoding: answer.body, as: UTF8.self).contains("projects/heliograph-dev/messages/"))
    }

    @Test(.emulator) func `a hundred streams are announced`() async throws {
        let port = try #require(fixture.emulator.port)
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        try await channel.executeThenClose { inbound, outbound in
            try await outbound.write(ByteBuffer(string: "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"))
            var answer = ByteBuffer()
            for try await part in inbound {
                answer.writeImmutableBuffer(part)
                if answer.readableBytes >= 9 + 18 { break }
            }
            let frame = Array(answer.readableBytesView)
            #expect(frame[3] == 4, "the first frame is SETTINGS")
            // A setting is an identifier of two bytes and a value of four; MAX_CONCURRENT_STREAMS is 3.
            let settings = stride(from: 9, to: 9 + Int(frame[2]), by: 6).map { Array(frame[$0..<$0 + 6]) }
            #expect(settings.contains([0, 3, 0, 0, 0, 100]))
        }
    }

    @Test(.emulator) func `GOAWAY ends a connection after the request it names, and the next is served on another`() async throws {
        let token = fixture.emulator.mintToken()
        #expect(try await fixture.call("POST", "/control/faults", #"{"action":"goaway","skip":1}"#).status == 201)
        var opened: [Int] = []
        for _ in 0..<3 {
            let answer = try await fixture.send(body(token))
            #expect(answer.status == 200)
            opened.append(answer.response.connectionsOpened)
        }
        #expect(opened == [1, 0, 1])
        #expect(fixture.emulator.statistics.goAways == 1)
        #expect(await fixture.emulator.messages(to: token).count == 3)
    }

    @Test(.emulator, arguments: StreamReset.allCases)
    func `a stream can be reset by each error`(_ reset: StreamReset) async throws {
        let token = fixture.emulator.mintToken()
        _ = try await fixture.send(body(token))
        _ = try await fixture.call("POST", "/control/faults", #"{"action":"reset","reset":"\#(reset.rawValue)"}"#)
        // A refused stream was not processed, so the client may retry the request on its own.
        let answer = try? await fixture.send(body(token))
        #expect(answer == nil || reset == .refused)
        #expect(try await fixture.send(body(token)).response.connectionsOpened == 0, "the connection goes on")
    }

    @Test(.emulator) func `many concurrent requests are all answered`() async throws {
        let tokens = (0..<300).map { _ in fixture.emulator.mintToken() }
        let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
            for token in tokens { group.addTask { try await fixture.send(body(token)).status } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(statuses.count == 300 && statuses.allSatisfy { $0 == 200 })
        #expect(fixture.emulator.acceptedCounts == [1: 300])
    }

    @Test(.emulator) func `a body longer than the first window arrives completely`() async throws {
        let padding = String(repeating: " ", count: 200_000)
        #expect(try await fixture.send(padding + body(fixture.emulator.mintToken())).status == 200)
        let answer = try await fixture.send(String(repeating: " ", count: 262_145))
        #expect(answer.json["error"]?["message"]?.string == "Request payload size exceeds the limit: 262144 bytes.")
    }
}
