import FCM
import FCMEmulator
import Foundation
import HTTPClient
import JSON
import Push
import TestSupport
import Testing

/// Tests against the emulator, whose error responses are those of production.
@Suite struct SendTests {
    @Test func `a push reaches the phone`() async throws {
        try await SendingFixture.with { (fixture: SendingFixture) async throws in
            let token = fixture.emulator.mintToken()
            let outcome = try await fixture.send(to: token).outcome
            let received = await fixture.emulator.messages(to: token, atLeast: 1, within: .seconds(60))
            #expect(received.map { FCMOutcome.accepted(name: $0.name) } == [outcome])
            #expect(received.first?.message["notification"]?["body"]?.string == "Face verification successful.")
        }
    }

    @Test func `a message that is only validated is not delivered`() async throws {
        try await SendingFixture.with { (fixture: SendingFixture) async throws in
            let token = fixture.emulator.mintToken()
            _ = await fixture.client.send(try fixture.message(), to: .token(token), validateOnly: true)
            #expect(await fixture.emulator.messages(to: token).isEmpty)
        }
    }

    @Test func `a dead token and a bad token are dead targets, and another project's is not`() async throws {
        try await SendingFixture.with { (fixture: SendingFixture) async throws in
            let dead = fixture.emulator.mintToken()
            fixture.emulator.deleteToken(dead)
            let foreign = fixture.emulator.mintToken(project: "another-project")
            for token in [dead, "not a token"] { #expect(try await fixture.send(to: token).outcome == .deadTarget) }
            #expect(try await fixture.send(to: foreign).outcome == .foreignTarget)
        }
    }

    static let faults: [(FCMFault, FCMOutcome)] = [
        (.unavailable, .transient(retryAfter: nil)), (.internal, .transient(retryAfter: nil)),
        (.quotaExceeded, .quota(retryAfter: .seconds(60))), (.thirdPartyAuthError, .providerAuth),
        (.permissionDenied, .config), (.senderIDMismatch, .foreignTarget), (.unregistered, .deadTarget),
    ]

    @Test(arguments: faults)
    func `a fault of FCM has its outcome`(fault: FCMFault, outcome: FCMOutcome) async throws {
        try await SendingFixture.with { (fixture: SendingFixture) async throws in
            let token = fixture.emulator.mintToken()
            fixture.emulator.addFault(FaultRule(.error(fault)))
            #expect(try await fixture.send(to: token).outcome == outcome)
        }
    }

    @Test func `a lost response is ambiguous, and the push may have arrived`() async throws {
        try await SendingFixture.with { (fixture: SendingFixture) async throws in
            let token = fixture.emulator.mintToken()
            var rule = FaultRule(.resetStream())
            rule.isDelivered = true
            fixture.emulator.addFault(rule)
            #expect(try await fixture.send(to: token).outcome == .ambiguous)
            #expect(await fixture.emulator.messages(to: token, atLeast: 1, within: .seconds(60)).count == 1)
        }
    }

    @Test func `a timeout is ambiguous`() async throws {
        try await SendingFixture.with(timeout: .seconds(5)) { (fixture: SendingFixture) async throws in
            let token = fixture.emulator.mintToken()
            #expect(try await fixture.send(to: token).isAccepted)
            fixture.emulator.addFault(FaultRule(.hang))
            #expect(try await fixture.send(to: token) == FCMResult(.ambiguous, code: "timeout"))
        }
    }

    @Test func `a cancelled send ends at once`() async throws {
        try await SendingFixture.with { (fixture: SendingFixture) async throws in
            let token = fixture.emulator.mintToken()
            _ = try await fixture.send(to: token)
            fixture.emulator.addFault(FaultRule(.hang))
            let message = try fixture.message()
            let sending = Task { await fixture.client.send(message, to: .token(token)) }
            try await eventually("the send is in flight") { fixture.emulator.statistics.sends > 1 }
            sending.cancel()
            #expect(await sending.value.outcome == .cancelled)
        }
    }

    @Test func `a send of a task that is cancelled beforehand sends nothing`() async throws {
        try await SendingFixture.with { (fixture: SendingFixture) async throws in
            let token = fixture.emulator.mintToken()
            _ = try await fixture.send(to: token)
            let message = try fixture.message()
            let late = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return await fixture.client.send(message, to: .token(token))
            }
            #expect(await late.value.outcome == .cancelled)
            _ = try await fixture.send(to: token)
            #expect(fixture.emulator.statistics.sends == 2)
        }
    }

    @Test func `a push to an unreachable FCM is not sent`() async throws {
        try await SendingFixture.with { (fixture: SendingFixture) async throws in
            let port = try FreePort.find()
            let client = try fixture.makeClient { $0.baseURL = "https://localhost:\(port)" }
            #expect(await client.send(try fixture.message(), to: .token("t")).outcome == .notSent)
        }
    }

    @Test func `a thousand pushes share few connections and one access token`() async throws {
        try await SendingFixture.with { (fixture: SendingFixture) async throws in
            let token = fixture.emulator.mintToken()
            #expect(try await fixture.sendAtOnce(1000, fixture.message(), to: token) == 1000)
            #expect(fixture.emulator.statistics.accessTokensIssued == 1)
        }
    }
}
