import HTTPClient
import TestSupport
import Testing

@Suite struct LimitTests {
    @Test func `the limits of connections and streams are not exceeded`() async throws {
        let full = EventCount()
        let server = try await FramePeer.server { peer in
            let streams = [try await peer.readRequest(), try await peer.readRequest()]
            full.add()
            await full.wait(for: 2)
            for stream in streams { try await peer.answer(stream) }
            while true { try await peer.answer(peer.readRequest()) }
        }
        try await withHTTP2Client(server.origin, configure: { ($0.maxConnections, $0.maxStreamsPerConnection) = (2, 2) }) { client in
            try await race(50) { _ in try await client.expect(status: 200) }
            #expect(client.takeConnectionsOpened() == 2)
        }
    }

    @Test(arguments: [
        ("POST", "no-slash", "a", "b"), ("post", "/", "a", "b"), ("POST", "/a b", "a", "b"), ("POST", "/", "a:", "b"),
        ("POST", "/", "a", "b\r\nc: d"), ("POST", "/", "Host", "other"), ("POST", "/", "content-length", "1"),
        ("POST", "/", ":authority", "other"), ("POST", "/", "", "b"),
    ])
    func `an invalid request is refused before it is sent`(method: String, path: String, name: String, value: String) {
        #expect { try HTTP2Request(method: method, path: path, headers: [(name, value)]) } throws: { error in
            (error as? HTTPClientError)?.code == .invalidRequest
        }
    }

    @Test func `header fields are refused when servers would refuse them`() async throws {
        let server = try await NGHTTPServer(isTLS: false)
        try await withHTTP2Client(server.origin) { client in
            // As many bytes as are allowed: with 32 for each field, and `:method`, `:path` and the name.
            let most = 15 * 1024 - 3 * 32 - (":methodPOST" + ":path/" + "a").utf8.count
            let largest = try HTTP2Request(path: "/", headers: [("a", String(repeating: "b", count: most))])
            #expect(try await client.execute(largest, body: [1]).status == 200)
            #expect(throws: HTTPClientError.self) { try HTTP2Request(path: "/", headers: [("a", String(repeating: "b", count: most + 1))]) }
        }
    }
}
