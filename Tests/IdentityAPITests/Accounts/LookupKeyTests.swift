import Accounts
import Foundation
import HTTPClient
import HeliographCrypto
import JSON
import PostgresClient
import ServiceDefaults
import TestSupport
import Testing
import WireFormat

@testable import IdentityAPI

/// Tests instances with different lookup keys, as they run during a rotation: an account is the same to all of them.
@Suite struct LookupKeyTests {
    /// The ring of the instance that each test has.
    private var old: String { get throws { try #require(try api.context.settings.optionalString(KeyPurpose.lookups.setting)) } }
    private let new = KeyRing.generateText(id: "k2")
    private let email = "known@example.org"

    /// Gives everything lookups under the first key of an instance, as `heliographctl keys rotate` does.
    private func rotate(_ api: IdentityFixture) async throws {
        let (keys, sealer) = (try api.context.settings.lookupKeys(), try api.context.sealer(.accounts))
        let lookups = LookupRepository(api.postgres)
        for source in LookupSource.allCases {
            for owner in try await lookups.page(of: source, after: nil, limit: 100).owners where !owner.has(keyID: keys.ids[0]) {
                #expect(try await lookups.add(owner.lookups(under: keys, openedBy: sealer), to: owner))
            }
        }
        #expect(try await lookups.counts(first: keys.ids[0]).keys.sorted() == [keys.ids[0]])
    }

    @Test(.apiWithMail) func `a person keeps the account through all steps of a rotation`() async throws {
        let device = try await api.signedInDevice(email: email)
        try await withInstance(of: api, replacing: [KeyPurpose.lookups.setting: "\(old),\(new)"]) { appended in
            #expect(try await appended.signIn(email: email).userID == device.userID)
            try await withInstance(of: api, replacing: [KeyPurpose.lookups.setting: "\(new),\(old)"]) { front in
                #expect(try await front.signIn(email: email).userID == device.userID)
                let other = try await front.signedInDevice(email: "new@example.org")
                #expect(try await appended.signIn(email: "new@example.org").userID == other.userID)
                try await rotate(front)
                #expect(try await appended.signIn(email: email).userID == device.userID)
                try await withInstance(of: api, replacing: [KeyPurpose.lookups.setting: new]) { after in
                    for instance in [front, after] {
                        #expect(try await instance.signIn(email: email).userID == device.userID)
                        #expect(try await instance.signIn(email: "new@example.org").userID == other.userID)
                    }
                    let lookups = LookupRepository(after.postgres)
                    for owner in try await lookups.page(of: .emails, after: nil, limit: 100).owners {
                        #expect(try await lookups.delete(owner.lookups(except: ["k2"]), of: owner) == 1)
                    }
                    let last = try await after.signIn(email: email)
                    #expect(last.userID == device.userID)
                    #expect(try await after.count("users") == 2)
                    let bearer = [(name: "Authorization", value: "Bearer \(last.accessToken)")]
                    let shown = try await after.send("GET", "/v1/users/me", headers: bearer)
                    #expect(shown.json.text("data.email") == email)
                }
            }
        }
    }

    @Test(.apiWithMail) func `a code counts at an instance with another first key, and an address with an account is refused`() async throws
    {
        try await withInstance(of: api, replacing: [KeyPurpose.lookups.setting: "\(old),\(new)"]) { first in
            let device = try await first.signedInDevice(email: email)
            try await withInstance(of: api, replacing: [KeyPurpose.lookups.setting: "\(new),\(old)"]) { second in
                let signUp = try await first.start(Path.signUp, .signUp(email: email))
                try await first.suspend(signUp.id)
                let verification = try #require(try await EmailVerificationRepository(first.postgres).find(id: signUp.id))
                let code = second.keys.codes(of: verification)[0]
                #expect(Set(second.keys.codes(of: verification)) == Set(first.keys.codes(of: verification)))
                let body = #"{"verification_id":"\#(signUp.id.wireString)","code":"\#(code)"}"#
                #expect(try await first.post("/v1/auth/verify", body).refusal == "409 already_enrolled")
                #expect(try await first.count("users") == 1)
                #expect(try await second.signIn(email: email).userID == device.userID)
            }
        }
    }

    @Test(.api) func `a repetition at an instance with another first key gets the same tokens`() async throws {
        try await withInstance(of: api, replacing: [KeyPurpose.lookups.setting: "\(old),\(new)"]) { first in
            try await first.signUp(email)
            let session = try await first.start()
            try await first.decide(session.id, .succeeded)
            let tokens = try await first.redeem(session).tokens
            try await withInstance(of: api, replacing: [KeyPurpose.lookups.setting: "\(new),\(old)"]) { second in
                #expect(try await second.redeem(session).tokens == tokens)
                let refreshed = try await second.refresh(tokens[1]).tokens
                #expect(try await first.refresh(tokens[1]).tokens == refreshed)
                #expect(try await first.isAccepted(refreshed[0]))
            }
        }
    }

    @Test(.api) func `a repeated upload at an instance with another first key starts no other session`() async throws {
        let key = [("Idempotency-Key", "upload-1")]
        try await withInstance(of: api, replacing: [KeyPurpose.lookups.setting: "\(old),\(new)"]) { first in
            try await first.signUp(email)
            let answer = try await first.send(.signIn(email: email), to: Path.login, headers: key)
            #expect(answer.status == 200)
            try await withInstance(of: api, replacing: [KeyPurpose.lookups.setting: "\(new),\(old)"]) { second in
                let again = try await second.send(.signIn(email: email), to: Path.login, headers: key)
                #expect(again.text == answer.text && again.header("Idempotent-Replayed") == "true")
                #expect(again.header("X-Session-Token") == answer.header("X-Session-Token"))
                #expect(try await second.count("sessions WHERE event = 'sign_in'") == 1)
            }
        }
    }

    @Test(.apiWithMail) func `an enrolment token is given again by an instance with another first key`() async throws {
        try await withInstance(of: api, replacing: [KeyPurpose.lookups.setting: "\(old),\(new)"]) { first in
            let begun = try await first.post("/v1/auth/register", #"{"email":"\#(email)"}"#)
            let id = try #require(begun.json.text("data.verification_id"))
            let token = try await first.enter(id, email).json.text("data.enrolment_token")
            try await withInstance(of: api, replacing: [KeyPurpose.lookups.setting: "\(new),\(old)"]) { second in
                let again = try await second.enter(id, email).json.text("data.enrolment_token")
                #expect(token != nil && again == token)
            }
        }
    }

    @Test(.api) func `an erasure by an instance with the new key finds what the old one has written`() async throws {
        let device = try await api.signedInDevice(email: email)
        _ = try await api.start(Path.signUp, .signUp(email: email))
        #expect(try await api.count("sessions WHERE email_lookups IS NOT NULL") == 1)
        try await withInstance(of: api, replacing: [KeyPurpose.lookups.setting: "\(new),\(old)"]) { after in
            let bearer = [(name: "Authorization", value: "Bearer \(device.accessToken)")]
            #expect(try await after.send("DELETE", "/v1/users/me", headers: bearer).status == 202)
            #expect(try await after.count("email_lookups") == 0)
            #expect(try await after.count("sessions WHERE email_lookups IS NOT NULL") == 0)
            _ = try await after.signedInDevice(email: email)
            #expect(try await after.count("users WHERE state = 'active'") == 1)
        }
    }
}
