import Accounts
import Foundation
import HTTPClient
import HeliographCrypto
import JSON
import PostgresClient
import TestSupport
import Testing
import WireFormat

@testable import IdentityAPI

/// What the owner of an account sees of it.
@Suite struct AccountTests {
    @Test(.api) func `the owner sees the account, and how much belongs to it`() async throws {
        let device = try await api.signedInDevice(email: "ada@example.org")
        try await FaceTemplateRepository(api.postgres).upsert(api.face(of: device.userID))
        let name = Array(#"{"display_name":"Ada"}"#.utf8)
        _ = try await api.send("PUT", "/v1/users/me", headers: [device.bearer, ("Content-Type", "application/json")], body: name)
        _ = try await api.send("PUT", "/v1/topics/event:party/members/me", headers: [device.bearer])
        let answer = try await api.send("GET", "/v1/users/me", headers: [device.bearer])
        #expect(answer.status == 200 && answer.header("Cache-Control") == "no-store")
        let account = try #require(answer.json["data"])
        #expect(account.text("user_id") == device.userID.wireString && account.text("email") == "ada@example.org")
        #expect(account.text("display_name") == "Ada" && account.text("created_at") != nil)
        #expect(account.text("face.model") == "model" && account.text("face.enrolled_at") != nil)
        #expect(account.value("consent") == .null && account.value("recovery_takes_effect_at") == .null)
        #expect(account.number("devices") == 1 && account.number("sessions") == 1 && account.number("topics") == 1)
        #expect(account.value("identity_providers") == .array([]))
        #expect(!answer.text.contains(Base64.encode(api.face(of: device.userID).templateSealed)))
    }

    @Test(.api) func `the owner sees the newest consent`() async throws {
        let device = try await api.signedInDevice()
        let given = Date(timeIntervalSince1970: 1_795_000_000)
        let text = ConsentedText(version: "2026-11", hash: SHA256.hash("text"))
        try await ConsentRepository(api.postgres).record(
            Consent(text: text, givenAt: given), of: device.userID, session: UUID())
        let consent = try #require(
            try await api.send("GET", "/v1/users/me", headers: [device.bearer]).json.value("data.consent"))
        #expect(
            consent
                == .members(
                    ("consent_version", "2026-11"), ("consent_sha256", .string(Hex.encode(text.hash))),
                    ("given_at", .string(Answer.timestamp(given)))))
    }

    @Test(.api) func `an account is shown to its owner only`() async throws {
        #expect(try await api.send("GET", "/v1/users/me").refusal == "401 unauthorized")
        #expect(try await api.send("GET", "/v1/users/me/export").refusal == "401 unauthorized")
    }
}
