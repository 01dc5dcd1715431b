import FCMEmulator
import HTTPClient
import TestSupport
import Testing

/// Connections that stay open and fall silent while new ones work, as after a failover behind a proxy.
@Suite struct SilentConnectionTests {
    private static let patience = Duration.seconds(60)

    // MARK: HTTPClient

    private static func get(_ url: String) -> HTTPClientRequest { HTTPClientRequest(url: url, timeout: .seconds(120)) }

    @Test func `after a timeout no connection that was idle before is used again`() async throws {
        let arrivals = EventCount()
        let server = try await ScriptedServer { connection in
            while true {
                _ = try await connection.readRequest()
                // The first three need a connection each.
                arrivals.add()
                await arrivals.wait(for: 3)
                try await connection.write(RequestTests.ok)
            }
        }
        let proxy = try await FaultProxy.start(to: .tcp(port: server.port))
        try await finally(proxy.stop) {
            try await withClient(configure: { $0.silenceLimit = .milliseconds(2500) }) { client in
                let request = Self.get("http://127.0.0.1:\(proxy.port)/")
                try await race(3) { _ in _ = try await client.execute(request) }
                try await proxy.freeze()
                let start = ContinuousClock.now
                await expect(client, request, failsAs: .timeout, mayHaveReachedServer: true)
                #expect(try await client.execute(request).connectionsOpened == 1)
                #expect(ContinuousClock.now - start < Self.patience)
            }
        }
    }

    @Test func `a silent connection of HTTP 2 takes no request after those that timed out`() async throws {
        let server = try await NGHTTPServer()
        let proxy = try await FaultProxy.start(to: .tcp(port: server.port))
        try await finally(proxy.stop) {
            let configure = { (configuration: inout HTTPClientConfiguration) in
                (configuration.caFile, configuration.silenceLimit) = (server.authority, .seconds(2))
            }
            try await withClient(.http2, configure: configure) { client in
                let request = Self.get("https://localhost:\(proxy.port)/file.txt")
                #expect(try await client.execute(request).httpVersion == .http2)
                try await proxy.freeze()
                let start = ContinuousClock.now
                let errors = try await race(2) { _ in await failure(client, request) }
                #expect(errors.allSatisfy { $0?.mayHaveReachedServer == true })
                #expect(try await client.execute(request).connectionsOpened == 1)
                #expect(ContinuousClock.now - start < Self.patience)
            }
        }
    }

    @Test func `a connection of HTTP 2 on which one request is not answered serves the others`() async throws {
        let directory = try TemporaryDirectory()
        let configuration = FCMEmulatorConfiguration(directory: directory.path)
        let emulator = FCMEmulator(configuration: configuration)
        try await emulator.start()
        emulator.addFault(FaultRule(.hang))
        let url = try #require(emulator.tlsURL)
        let send = HTTPClientRequest(
            method: "POST", url: "\(url)/v1/projects/\(configuration.projectID)/messages:send",
            headers: [("Authorization", "Bearer " + emulator.issueAccessToken())], body: [1], timeout: .seconds(120))
        let configure = { (client: inout HTTPClientConfiguration) in
            (client.caFile, client.silenceLimit) = (configuration.certificateFile, .seconds(2))
        }
        try await finally(emulator.stop) {
            try await withClient(.http2, configure: configure) { client in
                let other = Self.get(url + "/control/statistics")
                #expect(try await client.execute(other).connectionsOpened == 1)
                async let error = failure(client, send)
                try await eventually("the server has the request") { emulator.statistics.sends == 1 }
                let ended = EventCount()
                async let opened = Self.connectionsOpened(by: client, other, until: ended)
                #expect(await error?.code == .timeout)
                ended.add()
                #expect(try await opened == 0)
                #expect(try await client.execute(other).connectionsOpened == 0)
            }
        }
    }

    /// Sends one request after the other, and returns how many connections that took.
    private static func connectionsOpened(
        by client: HTTPClient, _ request: HTTPClientRequest, until ended: EventCount
    ) async throws -> Int {
        var opened = 0
        while ended.count == 0 { opened += try await client.execute(request).connectionsOpened }
        return opened
    }

    // MARK: HTTP2Client

    @Test func `a connection that falls silent is replaced, and calls that wait for it are sent over the new one`() async throws {
        let server = try await NGHTTPServer(isTLS: false)
        let proxy = try await FaultProxy.start(to: .tcp(port: server.port))
        try await finally(proxy.stop) {
            let configure = { (configuration: inout HTTP2ClientConfiguration) in
                configuration.unacknowledgedTimeout = .seconds(3)
                (configuration.maxConnections, configuration.maxStreamsPerConnection) = (1, 1)
            }
            try await withHTTP2Client("http://localhost:\(proxy.port)", configure: configure) { client in
                try await client.expect(status: 200)
                try await proxy.freeze()
                let start = ContinuousClock.now
                let errors = try await race(3) { _ in try await client.failure() }
                #expect(errors.compactMap { $0?.code } == [.ambiguous], "only the call on the silent connection fails")
                #expect(ContinuousClock.now - start < Self.patience)
                #expect(client.takeConnectionsOpened() == 2)
            }
        }
    }

    @Test func `a silent connection is replaced although each call on it ends before`() async throws {
        let server = try await NGHTTPServer(isTLS: false)
        let proxy = try await FaultProxy.start(to: .tcp(port: server.port))
        try await finally(proxy.stop) {
            let configure = { (configuration: inout HTTP2ClientConfiguration) in
                (configuration.unacknowledgedTimeout, configuration.timeout) = (.seconds(3), .milliseconds(500))
            }
            try await withHTTP2Client("http://localhost:\(proxy.port)", configure: configure) { client in
                try await eventually("a first call succeeds") { try await client.failure() == nil }
                try await proxy.freeze()
                try await eventually(within: Self.patience, "a call succeeds") { try await client.failure() == nil }
            }
        }
    }
}
