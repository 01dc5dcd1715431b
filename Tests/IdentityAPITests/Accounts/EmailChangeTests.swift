import Accounts
import EventBus
import Foundation
import HTTPClient
import HeliographCrypto
import JSON
import Mail
import PostgresClient
import ServiceDefaults
import TestSupport
import Testing
import WireFormat

@testable import IdentityAPI

@Suite struct EmailChangeTests {
    private func change(_ email: String, _ bearer: String) async throws -> HTTPClientResponse {
        try await api.send(
            "PUT", "/v1/users/me/email", headers: [("Authorization", "Bearer \(bearer)"), ("Content-Type", "application/json")],
            body: Array(#"{"email":"\#(email)"}"#.utf8))
    }

    @Test(.apiWithMail) func `another e-mail counts once its code is entered, and the old address gets a mail before`() async throws {
        let device = try await api.signedInDevice(email: "old@example.org")
        let begun = try await change("new@example.org", device.accessToken)
        #expect(begun.status == 202)
        #expect(try await api.mailbox.mail(to: "old@example.org").subject == "Your e-mail address is about to change")
        let lookups = api.keys.emailLookups(try #require(EmailAddress("new@example.org")))
        #expect(try await UserRepository(api.postgres).find(emailLookups: lookups) == nil)
        let answer = try await api.enter(try #require(begun.json.text("data.verification_id")), "new@example.org")
        #expect(answer.json.text("data.user_id") == device.userID.wireString)
        #expect(try await UserRepository(api.postgres).find(emailLookups: lookups)?.id == device.userID)
    }

    @Test(.apiWithMail) func `the former address gets a mail when a change has taken effect`() async throws {
        let device = try await api.signedInDevice(email: "old@example.org")
        let begun = try await change("new@example.org", device.accessToken)
        _ = try await api.mailbox.mail(to: "old@example.org")
        let verification = try #require(begun.json.text("data.verification_id"))
        #expect(try await api.enter(verification, "new@example.org").status == 200)
        let mail = try await api.mailbox.mail(to: "old@example.org", count: 2)
        #expect(mail.subject == "Your e-mail address was changed")
        #expect(mail.text.firstMatch(of: #/[0-9]{6}/#) == nil && !mail.text.contains("@"))
        #expect(try await api.enter(verification, "new@example.org").status == 200, "a repetition")
        #expect(try await api.count("outbox WHERE type = 'mail.requested'") == 3, "no second mail")
    }

    @Test(.apiWithMail) func `a change to the e-mail that the account has is no news`() async throws {
        let device = try await api.signedInDevice(email: "old@example.org")
        let begun = try await change("old@example.org", device.accessToken)
        let id = try #require(UUID(uuidString: begun.json.text("data.verification_id") ?? ""))
        let row = try #require(try await EmailVerificationRepository(api.postgres).find(id: id))
        let body = #"{"verification_id":"\#(id.wireString)","code":"\#(api.keys.codes(of: row)[0])"}"#
        #expect(try await api.post("/v1/auth/verify", body).status == 200)
        #expect(try await api.count("outbox WHERE type = 'mail.requested'") == 2, "the code, and that a change was asked for")
    }

    @Test(.apiWithMail) func `photos of sign-ins with the former e-mail are forgotten`() async throws {
        let device = try await api.signedInDevice(email: "old@example.org")
        let former = api.keys.attemptKeys(try #require(EmailAddress("old@example.org")))[0]
        let photos = FacePhotoHashRepository(api.postgres)
        let photo = { PhotoFingerprint(userID: $0, fileHash: SHA256.hash("photo"), pixelHash: nil, signature: nil) }
        try await photos.add([photo(former), photo(device.userID)], accepted: true, series: UUID())
        let begun = try await change("new@example.org", device.accessToken)
        _ = try await api.enter(try #require(begun.json.text("data.verification_id")), "new@example.org")
        #expect(try await !photos.containsAny(of: [photo(former)], maxDistance: 0, isTrusted: false, series: UUID()))
        #expect(try await photos.containsAny(of: [photo(device.userID)], maxDistance: 0, isTrusted: false, series: UUID()))
    }

    @Test(.apiWithMail) func `an address that has an account is refused only after its code`() async throws {
        let device = try await api.signedInDevice(email: "old@example.org")
        try await api.signUp("taken@example.org")
        let begun = try await change("taken@example.org", device.accessToken)
        #expect(begun.status == 202)
        let id = try #require(UUID(uuidString: begun.json.text("data.verification_id") ?? ""))
        let row = try #require(try await EmailVerificationRepository(api.postgres).find(id: id))
        let body = #"{"verification_id":"\#(id.wireString)","code":"\#(api.keys.codes(of: row)[0])"}"#
        let answer = try await api.post("/v1/auth/verify", body)
        #expect(answer.status == 409 && answer.json.text("error.code") == "already_enrolled")
    }

    @Test(.apiWithMail) func `a change ends the other sign-ins, tells their devices and is recorded`() async throws {
        let device = try await api.signedInDevice(email: "old@example.org")
        let other = try await api.signIn(email: "old@example.org", pushToken: Form.pushToken(of: 1))
        #expect(try await api.isAccepted(other.accessToken))
        let begun = try await change("new@example.org", device.accessToken)
        #expect(try await api.enter(try #require(begun.json.text("data.verification_id")), "new@example.org").status == 200)
        #expect(try await api.isAccepted(device.accessToken))
        #expect(try await !api.isAccepted(other.accessToken))
        let alerts = try await api.postgres.query(
            "SELECT FROM outbox WHERE type = 'notification.requested' AND position('email_changed' IN convert_from(body, 'UTF8')) > 0")
        #expect(alerts.count == 1)
        let actions = try await api.postgres.query(
            """
            SELECT action FROM audit_log
            WHERE subject_id = \(device.userID) AND address_key IS NOT NULL AND action LIKE 'email_change%' ORDER BY at
            """
        ).column("action", as: String.self)
        #expect(actions == ["email_change_requested", "email_changed"])
    }

    @Test(.apiWithMail) func `a change whose sign-in has ended takes no effect`() async throws {
        let thief = try await api.signedInDevice(email: "old@example.org")
        let owner = try await api.signIn(email: "old@example.org", pushToken: Form.pushToken(of: 1))
        let begun = try await change("thief@example.org", thief.accessToken)
        let code = try await api.mailbox.code(to: "thief@example.org")
        let bearer = [(name: "Authorization", value: "Bearer \(owner.accessToken)")]
        #expect(try await api.send("DELETE", IdentityFixture.sessions, headers: bearer).status == 204)
        let body = #"{"verification_id":"\#(try #require(begun.json.text("data.verification_id")))","code":"\#(code)"}"#
        #expect(try await api.post("/v1/auth/verify", body).refusal == "400 invalid_code code")
        let lookups = api.keys.emailLookups(try #require(EmailAddress("old@example.org")))
        #expect(try await UserRepository(api.postgres).find(emailLookups: lookups)?.id == owner.userID)
    }

    @Test(.apiWithMail) func `a change ends a recovery, which was asked for with the former e-mail`() async throws {
        let device = try await api.signedInDevice(email: "old@example.org")
        try await api.postgres.startRecovery(with: api.face(of: device.userID))
        let begun = try await change("new@example.org", device.accessToken)
        #expect(try await api.enter(try #require(begun.json.text("data.verification_id")), "new@example.org").status == 200)
        #expect(try await api.count("pending_enrolments") == 0)
        #expect(try await api.count("audit_log WHERE action = 'recovery_cancelled'") == 1)
    }

    @Test(.apiWithMail) func `a code that is entered after the account's erasure has begun is refused`() async throws {
        let device = try await api.signedInDevice(email: "old@example.org")
        let begun = try await change("new@example.org", device.accessToken)
        let code = try await api.mailbox.code(to: "new@example.org")
        _ = try await api.postgres.beginErasure(of: device.userID)
        let body = #"{"verification_id":"\#(try #require(begun.json.text("data.verification_id")))","code":"\#(code)"}"#
        #expect(try await api.post("/v1/auth/verify", body).refusal == "400 invalid_code code")
    }

    @Test(.apiWithMail) func `the first e-mail of an account removes the face from before, and the answer says so`() async throws {
        let device = try await api.signedInDevice(email: "old@example.org")
        let faces = FaceTemplateRepository(api.postgres)
        let enter = { (email: String) in
            try await faces.upsert(api.face(of: device.userID))
            let begun = try await change(email, device.accessToken)
            let id = try #require(begun.json.text("data.verification_id"))
            let answer = try await api.enter(id, email)
            #expect(try await api.enter(id, email).json["data"] == answer.json["data"], "a repetition")
            return answer.json["data"]?["face_enrolled"]
        }
        #expect(try await enter("new@example.org") == .bool(true))
        // As an account of an identity provider.
        try await api.postgres.execute("UPDATE users SET email_sealed = NULL")
        try await api.postgres.execute("DELETE FROM email_lookups")
        #expect(try await enter("first@example.org") == .bool(false))
        #expect(try await !faces.exists(userID: device.userID))
        #expect(try await api.count("audit_log WHERE action = 'face_erased' AND detail = 'first_email'") == 1)
    }

    @Test(.apiWithMail) func `a recovery that would begin while the e-mail is being changed finds the new one`() async throws {
        let device = try await api.signedInDevice(email: "old@example.org")
        let lookups = api.keys.emailLookups(try #require(EmailAddress("old@example.org")))
        let proof = NewEmailVerification(purpose: .registration, email: SealedEmail(lookups: lookups, sealed: [1]))
        try await api.postgres.withTransaction { transaction in
            _ = try await EmailVerificationRepository(transaction).insert(proof)
            _ = try await EmailVerificationRepository(transaction).verify(id: proof.id)
        }
        let begun = try await change("new@example.org", device.accessToken)
        let id = try #require(begun.json.text("data.verification_id"))
        let code = try await api.mailbox.code(to: "new@example.org")
        let (api, postgres) = (api, api.postgres)
        let (entry, recovery) = try await WriteGate.closed(postgres, before: .delete, on: "email_lookups") { gate in
            let entry = Task { try await api.post("/v1/auth/verify", #"{"verification_id":"\#(id)","code":"\#(code)"}"#).status }
            try await gate.isReached(by: 1)
            let recovery = Task {
                try await postgres.withTransaction { transaction in
                    try await SignInRepository(transaction).lock(of: device.userID)
                    return try await UserRepository(transaction).lookupsProven(by: proof.id, of: device.userID)
                }
            }
            try await gate.isReached(by: 2)
            return (entry, recovery)
        }
        #expect(try await entry.value == 200)
        #expect(try await recovery.value == nil)
    }

    @Test(.apiWithMail) func `an account asks for five changes a day, and the former address gets a mail for each`() async throws {
        let device = try await api.signedInDevice(email: "old@example.org")
        for number in 1...EmailVerificationRepository.maxChangesPerDay {
            #expect(try await change("new-\(number)@example.org", device.accessToken).status == 202)
        }
        #expect(try await change("new@example.org", device.accessToken).refusal == "429 rate_limited")
        let mails = try await api.count("outbox WHERE type = 'mail.requested'")
        #expect(mails == 2 * EmailVerificationRepository.maxChangesPerDay)
    }
}
