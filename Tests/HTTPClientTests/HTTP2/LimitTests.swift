import HTTPClient
import Synchronization
import TestSupport
import Testing

@Suite struct LimitTests {
    @Test func `a body at the limit is received and a larger one is refused`() async throws {
        let server = try await NGHTTPServer(isTLS: false)
        try await withHTTP2Client(server.origin, configure: { $0.maxResponseBodyByteCount = 1000 }) { client in
            let response = try await client.post(body: Array(repeating: 1, count: 1000))
            #expect(response.body.count == 1000)
            let error = try await client.failure(body: String(repeating: "x", count: 1001))
            #expect(error?.code == .responseTooLarge)
            #expect(error?.mayHaveReachedServer == true)
            try await client.expect(status: 200)
            #expect(client.takeConnectionsOpened() == 1)
        }
    }

    @Test func `a head over the limit is refused`() async throws {
        let server = try await NGHTTPServer(isTLS: false)
        try await withHTTP2Client(server.origin, configure: { $0.maxResponseHeadByteCount = 20 }) { client in
            try await client.expect(failure: .responseTooLarge)
        }
    }

    @Test func `more requests than allowed are refused as not sent`() async throws {
        let server = try await FramePeer.server { peer in try await peer.waitForClose() }
        try await withHTTP2Client(server.origin, configure: { $0.maxRequestsInFlight = 1 }) { client in
            let first = client.start(try HTTP2Request(path: "/"), body: []) { _ in }
            #expect(first > 0)
            let error = try await client.failure()
            #expect(error?.code == .notSent)
            #expect(error?.message == "too many requests are in flight")
        }
    }

    @Test func `the limits of connections and streams are not exceeded`() async throws {
        let open = Mutex(0)
        let server = try await FramePeer.server { peer in
            let streams = [try await peer.readRequest(), try await peer.readRequest()]
            open.withLock { $0 += 2 }
            try await eventually("both connections are full") { open.withLock { $0 } >= 4 }
            for stream in streams { try await peer.answer(stream) }
            while true { try await peer.answer(peer.readRequest()) }
        }
        try await withHTTP2Client(server.origin, configure: { ($0.maxConnections, $0.maxStreamsPerConnection) = (2, 2) }) { client in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<50 { group.addTask { try await client.expect(status: 200) } }
                try await group.waitForAll()
            }
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
}
