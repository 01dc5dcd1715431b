import Accounts
import Foundation
import HTTPClient
import HeliographCrypto
import JSON
import PostgresClient
import Push
import ServiceDefaults
import TestSupport
import Testing
import WireFormat

@testable import IdentityAPI

/// A device after its sign-in.
struct SignedInDevice {
    let userID: UUID
    let accessToken: String
    let refreshToken: String
}

extension IdentityFixture {
    func redeem(_ session: (id: UUID, token: String)) async throws -> HTTPClientResponse {
        try await send("POST", Path.session(session.id) + "/token", headers: [("Authorization", "Bearer \(session.token)")])
    }

    func refresh(_ token: String) async throws -> HTTPClientResponse {
        let body = Array(#"{"refresh_token":"\#(token)"}"#.utf8)
        return try await send("POST", "/api/v1/auth/refresh", headers: [("Content-Type", "application/json")], body: body)
    }

    func logout(_ token: String) async throws -> HTTPClientResponse {
        try await send("POST", "/api/v1/auth/logout", headers: [("Authorization", "Bearer \(token)")])
    }

    /// Signs up, signs in and redeems the session, as a phone does.
    func signedInDevice(email: String = "known@example.org") async throws -> SignedInDevice {
        let signUp = try await start(Path.signUp, .signUp(email: email))
        try await decide(signUp.id, .succeeded)
        return try await signIn(email: email)
    }

    /// Signs in and redeems the session.
    func signIn(email: String = "known@example.org", pushToken: String = Form.pushToken) async throws -> SignedInDevice {
        let session = try await start(Path.login, .signIn(email: email).with("fcm_token", pushToken))
        try await decide(session.id, .succeeded)
        let response = try await redeem(session)
        guard response.status == 200, let userID = UUID(uuidString: response.json.text("user_id") ?? "") else {
            throw UnexpectedAnswer(response: response)
        }
        return SignedInDevice(
            userID: userID, accessToken: response.json.text("access_token") ?? "",
            refreshToken: response.json.text("refresh_token") ?? "")
    }

    func isAccepted(_ accessToken: String) async throws -> Bool {
        try await AccessTokenAuthenticator(postgres: context.postgres).authenticate(bearer: accessToken) != nil
    }
}

@Suite struct TokenTests {
    @Test(.api) func `A successful sign-in gives tokens`() async throws {
        let signUp = try await api.start(Path.signUp, .signUp(email: "known@example.org"))
        try await api.decide(signUp.id, .succeeded)
        let session = try await api.start(Path.login, .signIn())
        #expect(try await api.redeem(session).refusal == "409 request_in_progress")
        try await api.decide(session.id, .succeeded)
        let response = try await api.redeem(session)
        #expect(response.status == 200)
        let names = ["access_token", "refresh_token", "token_type", "expires_in", "user_id"]
        #expect(Set(response.json.members?.map(\.name) ?? []) == Set(names))
        #expect(response.json.text("token_type") == "Bearer")
        #expect([3_599, 3_600].contains(response.json.number("expires_in")), "the second of the answer may be the next one")
        #expect(response.json.text("access_token")?.count == 43)
        #expect(response.header("Cache-Control") == "no-store")
        let user = try #require(try await SessionRepository(api.postgres).find(id: signUp.id)).userID
        #expect(response.json.text("user_id") == user.wireString)
        #expect(try await api.isAccepted(try #require(response.json.text("access_token"))))
    }

    @Test(.api) func `A sign-up, a failed sign-in, a wrong token and a late redemption give no tokens`() async throws {
        let signUp = try await api.start(Path.signUp, .signUp(email: "known@example.org"))
        try await api.decide(signUp.id, .succeeded)
        #expect(try await api.redeem(signUp).refusal == "403 forbidden")
        let failed = try await api.start()
        try await api.decide(failed.id, .failed(.noMatch))
        #expect(try await api.redeem(failed).refusal == "403 forbidden")
        let late = try await api.start()
        try await api.decide(late.id, .succeeded)
        #expect(try await api.redeem((late.id, failed.token)).refusal == "401 unauthorized")
        try await api.postgres.execute(
            "UPDATE sessions SET completed_at = now() - interval '301 seconds' WHERE id = \(late.id)")
        #expect(try await api.redeem(late).refusal == "403 forbidden")
        #expect(try await api.count("access_tokens") == 0)
    }

    @Test(.api) func `A sign-in that proves another user's device binds it with the push token of the sign-in`() async throws {
        _ = try await api.signedInDevice(email: "first@example.org")
        let signUp = try await api.start(Path.signUp, .signUp(email: "second@example.org"))
        try await api.decide(signUp.id, .succeeded)
        let newest = "c1aaaaaaaaaaaaaaaaaaaa:APA91bNewest"
        let device = try await api.signIn(email: "second@example.org", pushToken: newest)
        let check = try await api.check()
        #expect(try await api.value(of: check.installID) == newest)
        let confirmed = try await api.confirm(
            check.id, check.nonce, by: Customer(userID: device.userID, token: device.accessToken))
        #expect(confirmed.status == 200)
        let install = try #require(try await api.installs().first { $0.userID != nil })
        #expect(try await api.boundUsers() == [device.userID])
        #expect(try await api.value(of: install.id) == newest)
    }

    @Test(.api) func `a sign-in on a new device sends one push to each of the user's other devices`() async throws {
        let tablet = "c2bbbbbbbbbbbbbbbbbbbb:APA91bExampleToken"
        let device = try await api.signedInDevice()
        #expect(try await api.pushes().isEmpty, "the first device has no others to tell")
        _ = try await api.signIn(pushToken: tablet)
        _ = try await api.signIn(pushToken: tablet)
        let alert = try #require(try await api.pushes().first)
        #expect(try await api.pushes().count == 1, "the tablet is known by its second sign-in")
        #expect(alert.kind == .accountAlert && alert.lane == .urgent && alert.recipient == .user(device.userID))
        #expect(alert.content == AccountAlertPush(.newSignIn, of: device.userID).content)
        let bound = try #require(try await api.installs().first { PushTarget(tablet)!.installationKey == $0.installationKey })
        #expect(alert.exceptInstallID == bound.id)
    }

    @Test(.api) func `A repeated redemption tells the other devices nothing more`() async throws {
        _ = try await api.signedInDevice()
        let session = try await api.start(Path.login, .signIn().with("fcm_token", "c2bbbbbbbbbbbbbbbbbbbb:APA91bExampleToken"))
        try await api.decide(session.id, .succeeded)
        for _ in 0..<2 { #expect(try await api.redeem(session).status == 200) }
        #expect(try await api.pushes().count == 1)
    }

    @Test(.api) func `A refresh rotates both tokens`() async throws {
        let device = try await api.signedInDevice()
        let response = try await api.refresh(device.refreshToken)
        #expect(response.status == 200)
        #expect(response.json.text("user_id") == device.userID.wireString)
        #expect(try await !api.isAccepted(device.accessToken))
        #expect(try await api.isAccepted(try #require(response.json.text("access_token"))))
    }

    @Test(.api) func `Logging out ends both tokens`() async throws {
        let device = try await api.signedInDevice()
        let response = try await api.logout(device.accessToken)
        #expect(response.text == #"{"success":true,"code":0,"message":"Logged out","data":null}"#)
        #expect(try await !api.isAccepted(device.accessToken))
        #expect(try await api.refresh(device.refreshToken).refusal == "401 unauthorized")
        #expect(try await api.logout(device.accessToken).refusal == "401 unauthorized")
    }

    @Test(.api) func `Logging out with the token that a refresh just replaced ends the device's sign-in`() async throws {
        let device = try await api.signedInDevice()
        let next = try await api.refresh(device.refreshToken)
        #expect(try await api.logout(device.accessToken).status == 200)
        #expect(try await !api.isAccepted(try #require(next.json.text("access_token"))))
        #expect(try await api.boundUsers().isEmpty)
    }

    @Test(.api) func `A sign-in replaces only the user's earlier ones on that device`() async throws {
        let old = try await api.signedInDevice()
        let elsewhere = try await api.signIn(pushToken: "c2bbbbbbbbbbbbbbbbbbbb:APA91bExampleToken")
        let new = try await api.signIn()
        #expect(try await !api.isAccepted(old.accessToken))
        #expect(try await api.refresh(old.refreshToken).refusal == "401 unauthorized")
        #expect(try await api.isAccepted(elsewhere.accessToken))
        #expect(try await api.isAccepted(new.accessToken))
    }

    @Test(.api) func `Logging out after a second sign-in stops the pushes, and nothing of the first is left`() async throws {
        let old = try await api.signedInDevice()
        let new = try await api.signIn()
        #expect(try await api.logout(new.accessToken).status == 200)
        #expect(try await api.boundUsers().isEmpty)
        #expect(try await api.refresh(old.refreshToken).refusal == "401 unauthorized")
    }

    @Test(.api) func `A late logout does not unbind the device from a newer sign-in of the same user`() async throws {
        let old = try await api.signedInDevice()
        let new = try await api.signIn()
        #expect(try await api.logout(old.accessToken).refusal == "401 unauthorized")
        #expect(try await api.boundUsers() == [old.userID])
        #expect(try await api.isAccepted(new.accessToken))
    }

    private static let badRefreshes: [(contentType: String, body: String, expected: String)] = [
        ("application/json", "{}", "400 missing_field refresh_token"), ("application/json", "nonsense", "400 invalid_request"),
        ("text/plain", "x", "415 unsupported_media_type"),
        ("application/json", #"{"refresh_token":"unknown"}"#, "401 unauthorized"),
        ("application/json", #"{"refresh_token":""# + String(repeating: " ", count: 5_000) + "\"}", "413 payload_too_large"),
    ]

    @Test(.api) func `An invalid refresh is refused`() async throws {
        for (contentType, body, expected) in Self.badRefreshes {
            let headers = [(name: "Content-Type", value: contentType)]
            let response = try await api.send("POST", "/api/v1/auth/refresh", headers: headers, body: Array(body.utf8))
            #expect(response.refusal == expected, "\(body.prefix(40))")
        }
    }
}

extension IdentityFixture {
    func boundUsers() async throws -> [UUID?] {
        try await postgres.query("SELECT user_id FROM push_installs WHERE user_id IS NOT NULL").map { try $0.decode("user_id") }
    }
}
