import HTTPClient
import TestSupport
import Testing

@Suite struct UrgentCallTests {
    @Test func `an urgent call has a connection of its own beside full ones`() async throws {
        let (held, answered) = (EventCount(), EventCount())
        let server = try await FramePeer.server { peer in
            let stream = try await peer.readRequest()
            // The first call fills the only connection of all calls.
            if held.add() == 0 { await answered.wait(for: 1) }
            try await peer.answer(stream)
            try await peer.waitForClose()
        }
        try await withHTTP2Client(server.origin, configure: { ($0.maxConnections, $0.maxStreamsPerConnection) = (1, 1) }) { client in
            async let first = client.post()
            await held.wait(for: 1)
            try await client.expectUrgently(status: 200)
            answered.add()
            let status = try await first.status
            #expect(status == 200)
            #expect(client.takeConnectionsOpened() == 2)
        }
    }

    @Test func `other calls do not use the connection of urgent ones`() async throws {
        let connections = EventCount()
        let server = try await FramePeer.server { peer in
            let number = connections.add()
            while true { try await peer.answer(peer.readRequest(), status: number == 0 ? "200" : "202") }
        }
        try await withHTTP2Client(server.origin) { client in
            try await client.expectUrgently(status: 200)
            try await client.expect(status: 202)
            try await client.expectUrgently(status: 200)
        }
    }

    @Test func `an urgent call starts on a ready connection while its own is not`() async throws {
        let connections = EventCount()
        let server = try await ScriptedServer { connection in
            // The second connection never sends its SETTINGS.
            if connections.add() > 0 { while true { _ = try await connection.read() } }
            var peer = try await FramePeer(connection)
            while true { try await peer.answer(peer.readRequest()) }
        }
        try await withHTTP2Client(server.origin) { client in
            try await client.expect(status: 200)
            try await client.expectUrgently(status: 200)
            await connections.wait(for: 2)
            try await client.expectUrgently(status: 200)
        }
    }
}

extension HTTP2Client {
    /// Expects the response to an urgent POST to have a status.
    fileprivate func expectUrgently(status: Int, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let request = try HTTP2Request(path: "/")
        let response = try await withCheckedThrowingContinuation { continuation in
            start(request, body: [1], isUrgent: true) { continuation.resume(with: $0) }
        }
        #expect(response.status == status, sourceLocation: sourceLocation)
    }
}
