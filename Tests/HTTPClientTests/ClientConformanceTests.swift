import HTTPClient
import TestSupport
import Testing

/// The behaviour that both clients share: against nghttpd, a third-party HTTP/2 server, and against servers that are not there or
/// do not answer.
@Suite struct ClientConformanceTests {
    @Test(arguments: ClientKind.allCases)
    func `a refused connection fails as not sent`(kind: ClientKind) async throws {
        let port = try FreePort.find()
        try await kind.withClient("http://127.0.0.1:\(port)") { client in
            for _ in 0..<3 { await client.expectError(.notSent, mayHaveReachedServer: false, curlCode: 7) }
        }
    }

    @Test(arguments: ClientKind.allCases)
    func `an unresolvable host fails as not sent`(kind: ClientKind) async throws {
        try await kind.withClient("http://no-such-host.invalid") { client in
            #expect(await client.error()?.code == .notSent)
        }
    }

    @Test(arguments: ClientKind.allCases)
    func `a missing response is a timeout of a request that was sent`(kind: ClientKind) async throws {
        let server = try await kind.silentServer()
        try await kind.withClient(server.origin, configure: { $0.timeout = .seconds(5) }) { client in
            let error = await client.error()
            #expect(error?.code == .timeout)
            #expect(error?.mayHaveReachedServer == true)
        }
    }

    @Test(arguments: ClientKind.allCases)
    func `more requests than allowed are refused as not sent`(kind: ClientKind) async throws {
        let server = try await kind.silentServer()
        try await kind.withClient(server.origin, configure: { $0.maxRequestsInFlight = 1 }) { client in
            let first = Task { await client.error() }
            await server.waitForConnections(1)
            await client.expectError(.notSent, mayHaveReachedServer: false)
            first.cancel()
            #expect(await first.value?.code == .cancelled)
        }
    }

    @Test(arguments: ClientKind.allCases)
    func `a task that is cancelled beforehand fails as cancelled and sends nothing`(kind: ClientKind) async throws {
        let server = try await kind.silentServer()
        try await kind.withClient(server.origin) { client in
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return await client.error()
            }
            let error = await task.value
            #expect(error?.code == .cancelled)
            #expect(error?.mayHaveReachedServer == false)
            #expect(server.connectionCount == 0)
        }
    }

    @Test(arguments: ClientKind.allCases)
    func `with many cancellations at random moments every caller resumes once`(kind: ClientKind) async throws {
        let server = try await NGHTTPServer()
        try await kind.withClient(server.origin, configure: { $0.caFile = server.authority }) { client in
            let codes = try await race(500) { index in
                let task = Task { await client.error()?.code }
                for _ in 0..<(index % 20) { await Task.yield() }
                if index % 2 == 0 { task.cancel() }
                return await task.value
            }
            #expect(codes.allSatisfy { $0 == nil || $0 == .cancelled })
            #expect(await client.error() == nil)
        }
    }

    @Test(arguments: ClientKind.allCases)
    func `a body at the limit is received and a larger one is refused`(kind: ClientKind) async throws {
        let server = try await NGHTTPServer()
        let configure = { (settings: inout ClientKind.Settings) in
            (settings.caFile, settings.maxResponseBodyByteCount) = (server.authority, 1000)
        }
        try await kind.withClient(server.origin, configure: configure) { client in
            let body = [UInt8](repeating: 1, count: 1000)
            let response = try await client.send(body)
            #expect(response.body == body)
            let error = await client.error(sending: body + [1])
            #expect(error?.code == .responseTooLarge)
            #expect(error?.mayHaveReachedServer == true)
            #expect(await client.error() == nil)
            #expect(client.takeConnectionsOpened() <= 1)
        }
    }

    @Test(arguments: ClientKind.allCases)
    func `a head over the limit is refused`(kind: ClientKind) async throws {
        let server = try await NGHTTPServer()
        let configure = { (settings: inout ClientKind.Settings) in
            (settings.caFile, settings.maxResponseHeadByteCount) = (server.authority, 20)
        }
        try await kind.withClient(server.origin, configure: configure) { client in
            #expect(await client.error()?.code == .responseTooLarge)
        }
    }

    @Test(arguments: ClientKind.allCases)
    func `a server with a certificate of an unknown authority is refused`(kind: ClientKind) async throws {
        let server = try await NGHTTPServer()
        try await kind.withClient(server.origin) { client in
            await client.expectError(.notSent, mayHaveReachedServer: false, curlCode: 60)
        }
    }

    @Test(arguments: ClientKind.allCases)
    func `a server with the certificate of another server is refused, although its authority is trusted`(kind: ClientKind) async throws {
        let server = try await NGHTTPServer(names: TestCertificates.otherName)
        try await kind.withClient(server.origin, configure: { $0.caFile = server.authority }) { client in
            await client.expectError(.notSent, mayHaveReachedServer: false, curlCode: 60)
        }
    }

    @Test(arguments: ClientKind.allCases)
    func `a thousand requests share few connections, and each gets its own response`(kind: ClientKind) async throws {
        let server = try await NGHTTPServer()
        try await kind.withClient(server.origin, configure: { $0.caFile = server.authority }) { client in
            let opened = try await race(1000) { index in
                let body = Array("request \(index)".utf8)
                let response = try await client.send(body)
                #expect(response.body == body)
                return response.connectionsOpened
            }
            #expect((1...4).contains(opened.reduce(0, +) + client.takeConnectionsOpened()))
        }
    }

    @Test(arguments: ClientKind.allCases)
    func `the server's limit of concurrent streams is respected`(kind: ClientKind) async throws {
        let server = try await NGHTTPServer(arguments: ["--max-concurrent-streams=5"])
        let configure = { (settings: inout ClientKind.Settings) in (settings.caFile, settings.maxConnections) = (server.authority, 1) }
        try await kind.withClient(server.origin, configure: configure) { client in
            // libcurl 7.88 starts a hundred streams before it knows a new connection's limit, and fails those refused five times.
            #expect(await client.error() == nil)
            let errors = try await race(200) { _ in await client.error() }
            #expect(errors.allSatisfy { $0 == nil })
        }
    }

    @Test(arguments: ClientKind.allCases)
    func `the client reconnects to a restarted server`(kind: ClientKind) async throws {
        let server = try await NGHTTPServer()
        try await kind.withClient(server.origin, configure: { $0.caFile = server.authority }) { client in
            #expect(await client.error() == nil)
            await server.process.stop(signal: 9)
            try await eventually("requests fail") { await client.error()?.code == .notSent }
            let again = try await NGHTTPServer(port: server.port, directory: server.directory)
            // An attempt to connect in progress may still fail.
            try await eventually("requests succeed") { await client.error() == nil }
            withExtendedLifetime(again) {}
        }
    }
}
