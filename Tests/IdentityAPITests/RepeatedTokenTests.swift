import Accounts
import Foundation
import HTTPClient
import JSON
import PostgresClient
import Push
import TestSupport
import Testing
import WireFormat

@testable import IdentityAPI

/// Tests repeated requests for tokens, by a device whose answer was lost, and by a thief of its token.
@Suite struct RepeatedTokenTests {
    @Test(.api) func `A sign-in gives the same tokens again for five minutes, and signs in once`() async throws {
        try await api.signUp("known@example.org")
        let session = try await api.start()
        try await api.decide(session.id, .succeeded)
        let first = try await api.redeem(session)
        try await api.postgres.execute(
            "UPDATE access_tokens SET expires_at = expires_at - interval '4 minutes 30 seconds'")
        let again = try await api.redeem(session)
        #expect(again.status == 200 && again.tokens == first.tokens)
        #expect((3_300...3_330).contains(again.json.number("expires_in") ?? 0), "what is left of the hour")
        #expect(try await api.count("access_tokens") == 1)
        #expect(try await api.count("push_installs WHERE user_id IS NOT NULL AND generation = 1") == 1)
        try await api.postgres.execute(
            "UPDATE sessions SET completed_at = completed_at - interval '301 seconds' WHERE id = \(session.id)")
        #expect(try await api.redeem(session).refusal == "403 forbidden")
        #expect(try await api.isAccepted(first.tokens[0]))
    }

    @Test(.api) func `A sign-in whose tokens were refreshed, revoked or replaced gives no tokens any more`() async throws {
        try await api.signUp("known@example.org")
        func redeemed() async throws -> (session: (id: UUID, token: String), tokens: [String]) {
            let session = try await api.start()
            try await api.decide(session.id, .succeeded)
            return (session, try await api.redeem(session).tokens)
        }
        let refreshed = try await redeemed()
        let next = try await api.refresh(refreshed.tokens[1])
        #expect(try await api.redeem(refreshed.session).refusal == "403 forbidden")
        #expect(try await api.isAccepted(next.tokens[0]), "the repetition harms nothing")
        let signedOut = try await redeemed()
        #expect(try await api.logout(signedOut.tokens[0]).status == 200)
        #expect(try await api.redeem(signedOut.session).refusal == "403 forbidden")
        let replaced = try await redeemed()
        _ = try await redeemed()
        #expect(try await api.redeem(replaced.session).refusal == "403 forbidden")
    }

    @Test(.api) func `Concurrent redemptions of a sign-in give one pair`() async throws {
        try await api.signUp("known@example.org")
        let session = try await api.start()
        try await api.decide(session.id, .succeeded)
        let pairs = try await api.atOnce(6) { try await api.redeem(session) }
        #expect(Set(pairs).count == 1)
        #expect(try await api.count("access_tokens") == 1)
        #expect(try await api.count("push_installs WHERE user_id IS NOT NULL AND generation = 1") == 1)
    }

    @Test(.api) func `Concurrent refreshes get the same pair`() async throws {
        let device = try await api.signedInDevice()
        let pairs = try await api.atOnce(6) { try await api.refresh(device.refreshToken) }
        #expect(Set(pairs).count == 1)
        #expect(try await api.isAccepted(try #require(pairs.first)[0]))
        #expect(try await api.boundUsers() == [device.userID])
    }

    @Test(.api) func `A repeated refresh gets the same pair for 30 seconds, and later signs the device out`() async throws {
        let device = try await api.signedInDevice()
        let next = try await api.refresh(device.refreshToken)
        #expect(try await api.refresh(device.refreshToken).tokens == next.tokens)
        #expect(try await api.boundUsers() == [device.userID])
        try await api.postgres.execute("UPDATE access_tokens SET revoked_at = revoked_at - interval '31 seconds'")
        #expect(try await api.refresh(device.refreshToken).refusal == "401 unauthorized")
        #expect(try await !api.isAccepted(next.tokens[0]))
        #expect(try await api.refresh(next.tokens[1]).refusal == "401 unauthorized")
        #expect(try await api.boundUsers().isEmpty, "its push token is gone too")
        let newer = try await api.signIn()
        #expect(try await api.refresh(device.refreshToken).refusal == "401 unauthorized")
        #expect(try await api.boundUsers() == [newer.userID], "the old family has ended before, and ends nothing new")
    }

    @Test(.api) func `Reuse of a refresh token whose successor was used revokes the whole family`() async throws {
        let device = try await api.signedInDevice()
        let next = try await api.refresh(device.refreshToken)
        let last = try await api.refresh(next.tokens[1])
        #expect(try await api.refresh(device.refreshToken).refusal == "401 unauthorized")
        #expect(try await !api.isAccepted(last.tokens[0]))
        #expect(try await api.boundUsers().isEmpty)
    }

    @Test(.api) func `A sign-in has one working pair after redeem and refresh were repeated over connections cut anywhere`() async throws {
        try await api.signUp("known@example.org")
        var random = SeededGenerator(seed: 15)
        for round in 0..<60 {
            let session = try await api.succeededSignIn()
            let redeem =
                "POST \(Path.session(session.id))/token HTTP/1.1\r\nHost: x\r\n"
                + "Authorization: Bearer \(session.token)\r\nContent-Length: 0\r\n\r\n"
            try await api.cut(redeem, whileSending: round.isMultiple(of: 2), &random)
            let first = try await api.redeem(session)
            let body = #"{"refresh_token":"\#(first.tokens[1])"}"#
            let refresh =
                "POST /api/v1/auth/refresh HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
            try await api.cut(refresh, whileSending: round.isMultiple(of: 2), &random)
            let next = try await api.refresh(first.tokens[1])
            #expect(first.status == 200 && next.status == 200)
            #expect(try await api.isAccepted(next.tokens[0]))
            #expect(try await api.count("access_tokens WHERE revoked_at IS NULL") == 1)
        }
        #expect(try await api.count("push_installs WHERE user_id IS NOT NULL AND generation = 1") == 1)
    }
}

extension HTTPClientResponse {
    /// The access and the refresh token of an answer; empty for a refusal.
    var tokens: [String] {
        guard let access = json.text("access_token"), let refresh = json.text("refresh_token") else { return ["", ""] }
        return [access, refresh]
    }
}

extension IdentityFixture {
    /// Sends requests concurrently, expects a 200 for each, and returns their tokens.
    fileprivate func atOnce(_ count: Int, _ send: @escaping @Sendable () async throws -> HTTPClientResponse) async throws -> [[String]] {
        let responses = try await race(count) { _ in try await send() }
        #expect(responses.allSatisfy { $0.status == 200 })
        return responses.map(\.tokens)
    }

    /// Makes a successful sign-in of the account known@example.org on its phone, without photos.
    fileprivate func succeededSignIn() async throws -> (id: UUID, token: String) {
        let (id, token) = (UUID(), OpaqueToken.generate())
        let email = try #require(EmailAddress("known@example.org"))
        let user = try #require(try await UserRepository(postgres).find(emailLookups: keys.emailLookups(email))).id
        let target = try #require(PushTarget(Form.pushToken))
        let install = try await PushInstallRepository(postgres).registerUnbound(try keys.registration(of: target, seenAt: Date()))
        try await SessionRepository(postgres).insert(
            NewSession(
                id: id, userID: user, event: .signIn, attemptKey: keys.attemptKeys(email)[0], tokenHash: token.hash, installID: install.id,
                installationKey: install.installationKey))
        try await decide(id, .succeeded)
        return (id, token.text)
    }

    /// Sends a request over a connection that is cut after a part of the request, or of its answer.
    func cut(_ request: String, whileSending: Bool, _ random: inout SeededGenerator) async throws {
        try await cut(Array(request.utf8), whileSending: whileSending, &random)
    }

    func cut(_ bytes: [UInt8], whileSending: Bool, _ random: inout SeededGenerator) async throws {
        let connection = try RawConnection(port: port)
        if whileSending {
            try await connection.send(Array(bytes.prefix(Int.random(in: 1...bytes.count, using: &random))))
        } else {
            try await connection.send(bytes)
            // Both answers are longer than 300 bytes.
            try await connection.receive(count: Int.random(in: 0...300, using: &random))
        }
        connection.close()
    }
}
