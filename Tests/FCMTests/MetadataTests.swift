import FCM
import FCMEmulator
import Foundation
import HTTPClient
import Logging
import Push
import TestSupport
import Testing

@Suite struct MetadataTests {
    /// Host and port of the emulator, which acts as the metadata server.
    private static func host(of emulator: FCMEmulator) -> String { "localhost:\(emulator.port ?? 0)" }

    /// Runs `body` with a client that may speak plain HTTP, as the metadata server does.
    private static func withPlainClient(_ body: (HTTPClient) async throws -> Void) async throws {
        var configuration = HTTPClientConfiguration()
        configuration.allowedSchemes.insert("http")
        configuration.connectTimeout = .seconds(60)
        configuration.shutdownGrace = .zero
        let http = HTTPClient(configuration: configuration, logger: FCMEmulator.quietLogger)
        try await finally(http.shutdown) { try await body(http) }
    }

    private static func source(_ fixture: SendingFixture, _ http: HTTPClient) throws -> CachedTokenSource {
        try CachedTokenSource(
            metadataHost: host(of: fixture.emulator), timeout: .seconds(60), http: http, logger: FCMEmulator.quietLogger,
            now: { fixture.clock.now })
    }

    @Test func `a token of the machine's service account allows sending`() async throws {
        try await SendingFixture.with { (fixture: SendingFixture) async throws in
            try await Self.withPlainClient { http in
                let client = try fixture.makeClient(tokens: try Self.source(fixture, http))
                let token = fixture.emulator.mintToken()
                for _ in 0..<3 { #expect(await client.send(try fixture.message(), to: .token(token)).isAccepted) }
                #expect(fixture.emulator.statistics.accessTokensIssued == 1)
            }
        }
    }

    @Test func `a token is requested once and refreshed early, as with a key`() async throws {
        try await SendingFixture.with { (fixture: SendingFixture) async throws in
            try await Self.withPlainClient { http in
                let source = try Self.source(fixture, http)
                let tokens = Set(try await race(50) { _ in try await source.accessToken() })
                #expect(tokens.count == 1 && fixture.emulator.statistics.accessTokensIssued == 1)
                fixture.clock.advance(seconds: 3100)
                let first = try #require(tokens.first)
                #expect(try await source.accessToken() == first)
                try await eventually("a new token is there") { try await source.accessToken() != first }
                #expect(fixture.emulator.statistics.accessTokensIssued == 2)
            }
        }
    }

    @Test func `a metadata server that does not respond makes the token unavailable`() async throws {
        // A port that no emulator of another test gets afterwards.
        let port = try FreePort.find()
        try await SendingFixture.with(configure: { $0.port = port }) { (fixture: SendingFixture) async throws in
            try await Self.withPlainClient { http in
                let source = try Self.source(fixture, http)
                await fixture.emulator.stop()
                let error = await #expect(throws: FCMError.self) { try await source.accessToken() }
                #expect(error?.code == .tokenUnavailable)
            }
        }
    }

    @Test(arguments: [
        ("metadata.google.internal", true), ("169.254.169.254", true), ("localhost:8080", true), ("127.0.0.1:1", true),
        ("evil.example", false), ("metadata.google.internal.evil.example", false), ("localhost@evil.example", false),
        ("metadata.google.internal/x", false),
    ])
    func `only Google's server or one on this machine is allowed`(host: String, isAllowed: Bool) async throws {
        try await Self.withPlainClient { http in
            let source = try? CachedTokenSource(metadataHost: host, http: http, logger: FCMEmulator.quietLogger)
            #expect((source != nil) == isAllowed)
        }
    }
}
