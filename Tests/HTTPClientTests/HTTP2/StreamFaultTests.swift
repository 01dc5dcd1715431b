import HTTPClient
import TestSupport
import Testing

/// Faults of streams and connections, scripted frame by frame.
@Suite struct StreamFaultTests {
    @Test func `a refused stream fails as not sent`() async throws {
        let server = try await FramePeer.server { peer in
            try await peer.reset(peer.readRequest(), code: 7)
            try await peer.waitForClose()
        }
        try await withHTTP2Client(server.origin) { client in
            try await client.expect(failure: .notSent, mayHaveReachedServer: false)
        }
    }

    @Test(arguments: [UInt8(0), 1, 2, 8, 11])
    func `a stream reset with another code is ambiguous`(code: UInt8) async throws {
        let server = try await FramePeer.server { peer in
            try await peer.reset(peer.readRequest(), code: code)
            try await peer.waitForClose()
        }
        try await withHTTP2Client(server.origin) { client in
            try await client.expect(failure: .ambiguous, mayHaveReachedServer: true)
        }
    }

    @Test func `a reset stream does not affect the connection's other streams`() async throws {
        let server = try await FramePeer.server { peer in
            try await peer.reset(peer.readRequest(), code: 2)
            try await peer.answer(peer.readRequest())
            try await peer.waitForClose()
        }
        try await withHTTP2Client(server.origin) { client in
            try await client.expect(failure: .ambiguous)
            try await client.expect(status: 200)
            #expect(client.takeConnectionsOpened() == 1)
        }
    }

    @Test func `GOAWAY fails the streams above its last id as not sent and lets the others finish`() async throws {
        let server = try await FramePeer.server { peer in
            let (first, second) = (try await peer.readRequest(), try await peer.readRequest())
            try await peer.goAway(last: first)
            #expect(second > first)
            try await peer.answer(first)
            try await peer.waitForClose()
        }
        try await withHTTP2Client(server.origin) { client in
            async let one = client.failure("/one")
            async let other = client.failure("/other")
            let errors = try await [one, other].compactMap { $0 }
            #expect(errors.map(\.code) == [.notSent])
            #expect(errors.first?.mayHaveReachedServer == false)
        }
    }

    @Test func `after GOAWAY calls use another connection`() async throws {
        let server = try await FramePeer.server { peer in
            let stream = try await peer.readRequest()
            try await peer.goAway(last: stream)
            try await peer.answer(stream)
            try await peer.waitForClose()
        }
        try await withHTTP2Client(server.origin) { client in
            for _ in 0..<3 { try await client.expect(status: 200) }
            #expect(client.takeConnectionsOpened() == 3)
        }
    }

    @Test func `a connection that closes after the request is ambiguous`() async throws {
        let server = try await FramePeer.server { peer in _ = try await peer.readRequest() }
        try await withHTTP2Client(server.origin) { client in
            try await client.expect(failure: .ambiguous, mayHaveReachedServer: true)
        }
    }

    @Test func `a connection closed before a byte of the body was written fails the call as not sent`() async throws {
        // The initial stream window (setting 4) is 0, so the client can send heads but no bodies.
        let server = try await FramePeer.server(settings: [(4, 0)]) { peer in try await peer.read(FramePeer.Kind.headers) }
        try await withHTTP2Client(server.origin) { client in
            try await client.expect(failure: .notSent, mayHaveReachedServer: false)
        }
    }

    @Test func `a request without a body counts as sent with its head`() async throws {
        let server = try await FramePeer.server { peer in try await peer.read(FramePeer.Kind.headers) }
        try await withHTTP2Client(server.origin) { client in
            let request = try HTTP2Request(method: "GET", path: "/")
            await #expect { try await client.execute(request, body: []) } throws: { error in
                (error as? HTTPClientError)?.code == .ambiguous
            }
        }
    }

    @Test func `a timeout resets the stream and makes room for the next call`() async throws {
        let server = try await FramePeer.server(settings: [(3, 1)]) { peer in
            _ = try await peer.readRequest()
            try await peer.read(FramePeer.Kind.reset)
            try await peer.answer(peer.readRequest())
            try await peer.waitForClose()
        }
        try await withHTTP2Client(server.origin, configure: { ($0.timeout, $0.maxConnections) = (.seconds(6), 1) }) { client in
            try await client.expect(failure: .timeout)
            try await client.expect(status: 200)
        }
    }

    @Test func `a slow server that answers PING keeps its connection`() async throws {
        let server = try await FramePeer.server { peer in
            let stream = try await peer.readRequest()
            for _ in 0..<3 {
                let ping = try await peer.read(FramePeer.Kind.ping)
                try await peer.send(FramePeer.Kind.ping, flags: 1, payload: ping.payload)
            }
            try await peer.answer(stream)
            try await peer.waitForClose()
        }
        try await withHTTP2Client(server.origin, configure: { $0.unacknowledgedTimeout = .seconds(8) }) { client in
            try await client.expect(status: 200)
        }
    }

    @Test func `an interim head is not the response`() async throws {
        let server = try await FramePeer.server { peer in
            let stream = try await peer.readRequest()
            try await peer.send(FramePeer.Kind.headers, flags: 0x04, stream: stream, payload: [0x08, 3] + Array("103".utf8))
            try await peer.answer(stream, status: "503")
            try await peer.waitForClose()
        }
        try await withHTTP2Client(server.origin) { client in try await client.expect(status: 503) }
    }

    @Test func `a malformed response is ambiguous`() async throws {
        let server = try await FramePeer.server { peer in
            let stream = try await peer.readRequest()
            try await peer.send(
                FramePeer.Kind.headers, flags: 0x05, stream: stream, payload: [0xff, 0xff, 0xff, 0xff, 0xff, 0xff])
            try await peer.waitForClose()
        }
        try await withHTTP2Client(server.origin) { client in
            try await client.expect(failure: .ambiguous)
        }
    }

    @Test func `an idle connection whose server violates the protocol is not used again`() async throws {
        let goAways = EventCount()
        let server = try await FramePeer.server { peer in
            let stream = try await peer.readRequest()
            try await peer.answer(stream)
            // SETTINGS on a stream is a protocol error.
            try await peer.send(FramePeer.Kind.settings, stream: stream)
            try await peer.read(FramePeer.Kind.goAway)
            goAways.add()
            try await peer.waitForClose()
        }
        try await withHTTP2Client(server.origin) { client in
            for count in 1...3 {
                try await client.expect(status: 200)
                await goAways.wait(for: count)
            }
            #expect(client.takeConnectionsOpened() == 3)
        }
    }
}
