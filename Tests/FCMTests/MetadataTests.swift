import FCM
import FCMEmulator
import Foundation
import HTTPClient
import Logging
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
        let result: Result<Void, any Error>
        do { result = .success(try await body(http)) } catch { result = .failure(error) }
        await http.shutdown()
        try result.get()
    }

    private static func source(_ fixture: SendingFixture, _ http: HTTPClient) throws -> CachedTokenSource {
        try CachedTokenSource(
            metadataHost: host(of: fixture.emulator), timeout: .seconds(60), http: http, logger: FCMEmulator.quietLogger,
            now: { fixture.clock.now })
    }

    @Test func `a token of the machine's service account allows sending`() async throws {
        try await SendingFixture.with { (fixture: SendingFixture) async throws in
            try await Self.withPlainClient { http in
                let client = try FCMClient(
                    configuration: fixture.configuration, projectID: fixture.key.projectID,
                    tokens: try Self.source(fixture, http), logger: FCMEmulator.quietLogger, now: { fixture.clock.now })
                let token = fixture.emulator.mintToken()
                for _ in 0..<3 {
                    guard case .accepted = await client.send(try fixture.message(), to: .token(token)).outcome else {
                        Issue.record("a push was not accepted")
                        return
                    }
                }
                #expect(fixture.emulator.statistics.accessTokensIssued == 1)
            }
        }
    }

    @Test func `a token is requested once and refreshed early, as with a key`() async throws {
        try await SendingFixture.with { (fixture: SendingFixture) async throws in
            try await Self.withPlainClient { http in
                let source = try Self.source(fixture, http)
                let tokens = try await withThrowingTaskGroup(of: String.self) { group in
                    for _ in 0..<50 { group.addTask { try await source.accessToken() } }
                    return try await group.reduce(into: Set<String>()) { $0.insert($1) }
                }
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
