import Accounts
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

extension IdentityFixture {
    /// Proves an e-mail, and returns the enrolment token.
    func enrolmentToken(_ email: String, name: String? = nil) async throws -> String {
        let name = name.map { #","display_name":"\#($0)""# } ?? ""
        let count = mailbox.mails(to: email).count
        try await forgetMails()
        let begun = try await post("/v1/auth/register", #"{"email":"\#(email)"\#(name)}"#)
        return try await enter(try #require(begun.json.text("data.verification_id")), email, mail: count + 1)
            .json.text("data.enrolment_token") ?? ""
    }

    /// Enters the code of a mail to an address.
    func enter(_ verification: String, _ email: String, mail: Int = 1) async throws -> HTTPClientResponse {
        let code = try await mailbox.code(to: email, count: mail)
        return try await post("/v1/auth/verify", #"{"verification_id":"\#(verification)","code":"\#(code)"}"#)
    }

    /// Decides a sign-up with an e-mail that was only named, as the worker does: its face waits for the code, which is mailed.
    func suspend(_ id: UUID, refusesDuplicates: Bool = false) async throws {
        let session = try #require(try await SessionRepository(postgres).find(id: id))
        let email = try #require(session.email)
        try await postgres.withTransaction { transaction in
            try await PendingEnrolmentRepository(transaction).insert(
                id: id, face: face(of: session.userID),
                photos: [
                    PhotoFingerprint(userID: session.userID, fileHash: SHA256.hash("photo"), pixelHash: nil, signature: nil)
                ], consent: session.consent, refusesDuplicates: refusesDuplicates)
            _ = try await EmailVerificationRepository(transaction).insert(
                NewEmailVerification(id: id, purpose: .enrolment, accountID: session.userID, email: email))
        }
        try await forgetMails()
        try await eventually("the code is mailed") {
            try await codeMailer.publishDue()
            return try await count("email_verifications WHERE code_number > 0 AND id = '\(id)'") == 1
        }
        #expect(try await SessionRepository(postgres).complete(id: id, outcome: .succeeded))
    }

    /// Makes the next mail to each address due, as if its last one were a day old.
    func forgetMails() async throws {
        try await postgres.execute(
            """
            UPDATE code_mails SET due_at = least(due_at, now()), requested_at = requested_at - interval '1 day'
            """)
    }

    /// What publishes the mails that are due.
    var codeMailer: CodeMailer { CodeMailer(postgres: context.postgres, perMinute: 0, logger: context.logger) }

    /// Runs the sweeper once.
    func sweep() async throws {
        let sweeper = IdentityAPI.sweeper(
            postgres: context.postgres, photos: try context.blobStore(.faces),
            pseudonyms: SessionPseudonyms(sessionKey: try context.settings.sessionKey()),
            interval: .seconds(1), logger: context.logger)
        await sweeper.sweep()
    }

    func face(of userID: UUID) -> NewFaceTemplate {
        NewFaceTemplate(userID: userID, modelID: "model", pipelineVersion: 1, templateSealed: Array(userID.wireString.utf8))
    }
}

/// Sign-ups of proven and of named e-mails.
@Suite struct VerifiedSignUpTests {
    private let email = "ada@example.org"

    @Test(.apiWithMail) func `an enrolment token starts the sign-up of its e-mail, with the id that the account gets`() async throws {
        let token = try await api.enrolmentToken(email, name: "Ada")
        let answer = try await api.send(.signUp(email: nil), to: Path.signUp, headers: [("Authorization", "Bearer \(token)")])
        let id = try #require(UUID(uuidString: answer.json.text("data.session_id") ?? ""))
        let session = try #require(try await SessionRepository(api.postgres).find(id: id))
        #expect(!session.authorised && !session.isRecovery && session.email == nil)
        let verification = try #require(session.verificationID)
        #expect(try await UserRepository(api.postgres).create(id: session.userID, verified: verification))
        let user = try #require(try await UserRepository(api.postgres).find(id: session.userID))
        #expect(try api.keys.displayName(of: user) == "Ada")
    }

    @Test(.apiWithMail) func `an enrolment token that is unknown, or has ended, is refused`() async throws {
        let token = try await api.enrolmentToken(email)
        try await api.postgres.execute("UPDATE email_verifications SET verified_at = now() - interval '16 minutes'")
        for bearer in [token, "enrolment.unknown"] {
            let answer = try await api.send(.signUp(email: nil), to: Path.signUp, headers: [("Authorization", "Bearer \(bearer)")])
            #expect(answer.status == 401)
        }
        #expect(try await api.count("sessions") == 0)
    }

    @Test(.apiWithMail) func `an enrolment token repeats its sign-up and starts others, until it ends`() async throws {
        let token = try await api.enrolmentToken(email)
        func upload(_ form: Form, key: String) async throws -> HTTPClientResponse {
            try await api.send(form, to: Path.signUp, headers: [("Authorization", "Bearer \(token)"), ("Idempotency-Key", key)])
        }
        let form = Form.signUp(email: nil)
        let first = try await upload(form, key: "k-1")
        let again = try await upload(form, key: "k-1")
        #expect(first.status == 200 && again.text == first.text && again.header("Idempotent-Replayed") == "true")
        let other = try await upload(form.withLastPhoto(TestPhoto.jpeg(seed: 99)), key: "k-2")
        #expect(other.status == 200 && other.json.text("data.session_id") != first.json.text("data.session_id"))
        try await api.postgres.execute("UPDATE email_verifications SET verified_at = now() - interval '16 minutes'")
        #expect(try await upload(form, key: "k-1").refusal == "401 unauthorized")
        #expect(try await api.count("sessions") == 2)
    }

    @Test(.apiWithMail) func `a recovery needs an enrolment token`() async throws {
        let refused = try await api.send(.signUp(email: email).with("recovery", "true"), to: Path.signUp)
        #expect(refused.status == 400 && refused.json.text("error.field") == "recovery")
        let token = try await api.enrolmentToken(email)
        let form = Form.signUp(email: nil).with("recovery", "true")
        let answer = try await api.send(form, to: Path.signUp, headers: [("Authorization", "Bearer \(token)")])
        let id = try #require(UUID(uuidString: answer.json.text("data.session_id") ?? ""))
        #expect(try await SessionRepository(api.postgres).find(id: id)?.isRecovery == true)
    }

    @Test(.apiWithMail) func `the code of a sign-up without proof creates the account with the waiting face`() async throws {
        let session = try await api.start(Path.signUp, .signUp(email: email))
        try await api.suspend(session.id)
        #expect(try await api.count("users") == 0)
        #expect(try await api.status(session).json.text("data.verification_id") == session.id.wireString)
        let answer = try await api.enter(session.id.wireString, email)
        let user = try #require(UUID(uuidString: answer.json.text("data.user_id") ?? ""))
        #expect(answer.json.text("data.purpose") == "enrolment")
        #expect(try await FaceTemplateRepository(api.postgres).find(userID: user)?.templateSealed == api.face(of: user).templateSealed)
        #expect(try await api.count("face_photo_hashes") == 1)
        #expect(try await api.count("pending_enrolments") == 0)
        #expect(try await api.enter(session.id.wireString, email).json.text("data.user_id") == user.wireString, "a repetition")
    }

    @Test(.apiWithMail) func `a code that waits for another enrolment has locked no row`() async throws {
        let session = try await api.start(Path.signUp, .signUp(email: email))
        try await api.suspend(session.id, refusesDuplicates: true)
        let answer = try await api.postgres.withTransaction { transaction in
            try await FaceDuplicateRepository(transaction).lock()
            let answer = Task { try await api.enter(session.id.wireString, email) }
            try await eventually("the code waits for the lock") {
                try await api.count("pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'") == 1
            }
            // Fails if the row is locked.
            try await transaction.execute("SELECT FROM email_verifications WHERE id = \(session.id) FOR UPDATE NOWAIT")
            return answer
        }
        #expect(try await answer.value.status == 200)
    }

    @Test(.apiWithMail) func `the code of a sign-up with an account's address changes nothing`() async throws {
        let owner = try await api.start(Path.signUp, .signUp(email: email))
        try await api.suspend(owner.id)
        _ = try await api.enter(owner.id.wireString, email)
        let stranger = try await api.start(Path.signUp, .signUp(email: email))
        try await api.suspend(stranger.id)
        let mail = try await api.mailbox.mail(to: email, count: 2)
        #expect(mail.subject == "Somebody used your address" && mail.text.firstMatch(of: #/[0-9]{6}/#) == nil)
        let verification = try #require(try await EmailVerificationRepository(api.postgres).find(id: stranger.id))
        let body = #"{"verification_id":"\#(stranger.id.wireString)","code":"\#(api.keys.codes(of: verification)[0])"}"#
        let answer = try await api.post("/v1/auth/verify", body)
        #expect(answer.status == 409 && answer.json.text("error.code") == "already_enrolled")
        #expect(try await api.count("users") == 1)
        #expect(try await api.count("face_templates") == 1)
    }

    @Test(.apiWithMail) func `faces and verifications are deleted after a day without the code`() async throws {
        let session = try await api.start(Path.signUp, .signUp(email: email))
        try await api.suspend(session.id)
        for table in ["pending_enrolments", "email_verifications"] {
            try await api.postgres.execute("UPDATE \(unescaped: table) SET created_at = now() - interval '24 hours'")
        }
        try await api.sweep()
        #expect(try await api.count("pending_enrolments") == 0)
        #expect(try await api.count("email_verifications") == 0)
    }
}

@Suite struct RecoveryTests {
    private func begin(of device: SignedInDevice) async throws {
        try await api.postgres.startRecovery(with: api.face(of: device.userID))
    }

    private func send(_ method: String, _ bearer: String) async throws -> HTTPClientResponse {
        try await api.send(method, "/v1/users/me/recovery", headers: [("Authorization", "Bearer \(bearer)")])
    }

    @Test(.apiWithMail) func `a device that is signed in sees a recovery and cancels it`() async throws {
        let device = try await api.signedInDevice()
        #expect(try await send("GET", device.accessToken).json.text("data.state") == "none")
        try await begin(of: device)
        let waiting = try await send("GET", device.accessToken)
        #expect(waiting.json.text("data.state") == "waiting" && waiting.json.text("data.takes_effect_at") != nil)
        #expect(try await send("DELETE", device.accessToken).status == 204)
        #expect(try await send("GET", device.accessToken).json.text("data.state") == "none")
        #expect(try await send("DELETE", device.accessToken).status == 204, "a repetition")
    }

    @Test(.apiWithMail) func `a recovery that is due replaces the face, ends all sign-ins and sends a mail`() async throws {
        let email = "known@example.org"
        let device = try await api.signedInDevice(email: email)
        try await begin(of: device)
        try await api.sweep()
        #expect(try await api.isAccepted(device.accessToken), "it is not due yet")
        try await api.postgres.execute("UPDATE pending_enrolments SET due_at = now()")
        try await api.sweep()
        #expect(try await !api.isAccepted(device.accessToken))
        #expect(try await api.mailbox.mail(to: email).subject == "Your account was recovered")
        let face = try await FaceTemplateRepository(api.postgres).find(userID: device.userID)
        #expect(face?.templateSealed == api.face(of: device.userID).templateSealed)
        try await api.sweep()
        #expect(api.mailbox.mails(to: email).count == 1)
    }

    @Test(.apiWithMail) func `a recovery by an e-mail that the account has no longer is dropped when it is due`() async throws {
        let device = try await api.signedInDevice()
        try await begin(of: device)
        try await api.postgres.execute("UPDATE email_lookups SET lookup = substr(lookup, 1, 3) || sha256('new')")
        try await api.postgres.execute("UPDATE pending_enrolments SET due_at = now()")
        try await api.sweep()
        #expect(try await api.isAccepted(device.accessToken))
        #expect(try await FaceTemplateRepository(api.postgres).find(userID: device.userID) == nil)
        #expect(try await api.count("pending_enrolments") == 0)
        #expect(try await api.count("audit_log WHERE action = 'recovery_cancelled' AND detail = 'email_changed'") == 1)
    }

    @Test(.apiWithMail) func `a recovery is not completed while the account is being changed`() async throws {
        let device = try await api.signedInDevice()
        try await begin(of: device)
        try await api.postgres.execute("UPDATE pending_enrolments SET due_at = now()")
        let api = api
        try await api.postgres.withTransaction { transaction in
            try await SignInRepository(transaction).lock(of: device.userID)
            _ = try await transaction.query("SELECT 1")
            try await api.sweep()
        }
        #expect(try await api.count("pending_enrolments") == 1)
        try await api.sweep()
        #expect(try await api.count("pending_enrolments") == 0)
    }
}
