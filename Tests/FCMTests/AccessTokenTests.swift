import FCM
import FCMEmulator
import Foundation
import HTTPClient
import Logging
import Push
import TestSupport
import Testing

@Suite struct AccessTokenTests {
    @Test func `concurrent callers share one token, requested once`() async throws {
        try await SendingFixture.with { (fixture: SendingFixture) async throws in
            #expect(Set(try await race(50) { _ in try await fixture.tokens.accessToken() }).count == 1)
            #expect(fixture.emulator.statistics.accessTokensIssued == 1)
        }
    }

    @Test func `a token is refreshed before it expires while the old one is still returned`() async throws {
        try await SendingFixture.with { (fixture: SendingFixture) async throws in
            let first = try await fixture.tokens.accessToken()
            fixture.clock.advance(seconds: 2000)
            #expect(try await fixture.tokens.accessToken() == first)
            #expect(fixture.emulator.statistics.accessTokensIssued == 1)
            fixture.clock.advance(seconds: 1100)
            #expect(try await fixture.tokens.accessToken() == first)
            try await eventually("a new token is there") { try await fixture.tokens.accessToken() != first }
            #expect(fixture.emulator.statistics.accessTokensIssued == 2)
        }
    }

    @Test func `under load one token is requested per fifty minutes, whatever the number of connections`() async throws {
        try await SendingFixture.with { (fixture: SendingFixture) async throws in
            let phone = fixture.emulator.mintToken()
            let message = try FCMMessage(.sample(.signIn), .plain, expiresAt: fixture.clock.now.addingTimeInterval(86_400))
            let (steps, stepSeconds, sendsPerStep) = (18, 600.0, 120)
            for step in 0...steps {
                if step > 0 { fixture.clock.advance(seconds: stepSeconds) }
                #expect(try await fixture.sendAtOnce(sendsPerStep, message, to: phone) == sendsPerStep, "in step \(step)")
            }
            // Three hours; a token lives for one and is refreshed after five sixths of it, while the old one is still valid.
            #expect(fixture.emulator.statistics.accessTokensIssued == 4)
            #expect(fixture.emulator.statistics.byStatus == [200: (steps + 1) * sendsPerStep], "none was refused, none sent twice")
            #expect(fixture.emulator.statistics.connections > 1)
        }
    }

    @Test func `the old token is used until it expires when no new one is available`() async throws {
        try await SendingFixture.with { (fixture: SendingFixture) async throws in
            let first = try await fixture.tokens.accessToken()
            var rule = FaultRule(.html(status: 503))
            rule.endpoint = .token
            rule.count = nil
            fixture.emulator.addFault(rule)
            fixture.clock.advance(seconds: 3300)
            for _ in 0..<5 {
                fixture.clock.advance(seconds: 11)
                #expect(try await fixture.tokens.accessToken() == first)
            }
            fixture.clock.advance(seconds: 300)
            let error = await #expect(throws: FCMError.self) { try await fixture.tokens.accessToken() }
            #expect(error?.code == .tokenUnavailable)
            #expect(try await fixture.send(to: "t") == FCMResult(.notSent, code: "token_unavailable"))
        }
    }

    @Test func `a refused token is replaced once and the push is sent`() async throws {
        try await SendingFixture.with { (fixture: SendingFixture) async throws in
            let token = fixture.emulator.mintToken()
            _ = try await fixture.send(to: token)
            fixture.emulator.revokeAccessTokens()
            #expect(try await fixture.send(to: token).isAccepted, "with a new token")
            #expect(fixture.emulator.statistics.accessTokensIssued == 2)
        }
    }

    @Test func `a send past its retry window is not retried`() async throws {
        try await SendingFixture.with { (fixture: SendingFixture) async throws in
            let client = try fixture.makeClient { $0.retryWindow = .zero }
            let token = fixture.emulator.mintToken()
            _ = await client.send(try fixture.message(), to: .token(token))
            fixture.emulator.revokeAccessTokens()
            #expect(await client.send(try fixture.message(), to: .token(token)).outcome == .ourAuth)
            #expect(fixture.emulator.statistics.sends == 2)
            await client.shutdown()
        }
    }

    @Test func `consecutive refusals request a new token at most once a minute`() async throws {
        try await SendingFixture.with { (fixture: SendingFixture) async throws in
            let token = fixture.emulator.mintToken()
            var rule = FaultRule(.error(.unauthenticated))
            rule.count = nil
            fixture.emulator.addFault(rule)
            for _ in 0..<5 {
                #expect(try await fixture.send(to: token).outcome == .ourAuth)
            }
            #expect(fixture.emulator.statistics.accessTokensIssued == 2, "the first one and one forced refresh")
            fixture.clock.advance(seconds: 61)
            #expect(try await fixture.send(to: token).outcome == .ourAuth)
            #expect(fixture.emulator.statistics.accessTokensIssued == 3)
        }
    }

    @Test func `a refusal by Apple requests no new token`() async throws {
        try await SendingFixture.with { (fixture: SendingFixture) async throws in
            fixture.emulator.addFault(FaultRule(.error(.thirdPartyAuthError)))
            let token = fixture.emulator.mintToken()
            #expect(try await fixture.send(to: token).outcome == .providerAuth)
            #expect(fixture.emulator.statistics.accessTokensIssued == 1)
        }
    }

    @Test func `a key unknown to Google is refused permanently`() async throws {
        // The fixtures of this module share one key; this one is made for a file of its own.
        let directory = try TemporaryDirectory()
        try await SendingFixture.with { (fixture: SendingFixture) async throws in
            try await SendingFixture.with(configure: { $0.serviceAccountFile = directory.path + "/stranger.json" }) { other in
                let stranger = try CachedTokenSource(
                    key: other.key, tokenURL: (fixture.emulator.tlsURL ?? "") + "/token", http: fixture.http,
                    logger: Logger(label: "test"), now: { fixture.clock.now })
                let error = await #expect(throws: FCMError.self) { try await stranger.accessToken() }
                #expect(error?.code == .credentialsRefused)
            }
        }
    }
}
