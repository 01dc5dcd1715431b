import Accounts
import Foundation
import HTTPClient
import JSON
import Mail
import PostgresClient
import TestSupport
import Testing
import WireFormat

@testable import IdentityAPI

extension IdentityFixture {
    /// Signs up, and signs in on a device with the mailed code.
    func verifiedSignIn(by device: DeviceSigner, email: String = "known@example.org") async throws -> SignedInDevice {
        let signUp = try await start(Path.signUp, .signUp(email: email))
        try await decide(signUp.id, .succeeded)
        let session = try await decidedSignIn(by: device, email: email)
        let path = Path.session(session.id) + "/token"
        _ = try await send("POST", path, by: device, bearer: session.token)
        let code = try await mailbox.code(to: email)
        return try signedIn(try await send("POST", path, by: device, bearer: session.token, json: #"{"code":"\#(code)"}"#))
    }
}

/// What a sign-in needs on a device that is new to the account, with `SIGN_IN_NEW_DEVICE=code`.
@Suite struct NewDeviceTests {
    private static let email = "known@example.org"

    /// Signs up, and has a sign-in succeed whose device the account does not know.
    private func firstSignIn() async throws -> (id: UUID, token: String) {
        let signUp = try await api.start(Path.signUp, .signUp(email: Self.email))
        try await api.decide(signUp.id, .succeeded)
        return try await decidedSignIn()
    }

    private func decidedSignIn(pushToken: String = Form.pushToken) async throws -> (id: UUID, token: String) {
        let session = try await api.start(Path.login, .signIn().with("fcm_token", pushToken))
        try await api.decide(session.id, .succeeded)
        return session
    }

    private func redeem(_ session: (id: UUID, token: String), code: String) async throws -> HTTPClientResponse {
        try await api.post(Path.session(session.id) + "/token", #"{"code":"\#(code)"}"#, bearer: session.token)
    }

    private func wrong(_ code: String) -> String { code == "000000" ? "000001" : "000000" }

    @Test(.apiWithMail { $0.deviceKeys.newDevices = .code })
    func `a new device gets tokens by the code that is mailed to the account`() async throws {
        let session = try await firstSignIn()
        let asked = try await api.redeem(session)
        #expect(asked.refusal == "403 verification_required code")
        #expect(asked.json.text("error.verification_id") == session.id.wireString)
        let reference = try #require(asked.json.text("error.reference"))
        let code = try await api.mailbox.code(to: Self.email)
        let mail = try await api.mailbox.mail(to: Self.email)
        #expect(mail.subject == "\(code) is your code to sign in")
        #expect(mail.text.contains(reference))
        #expect(try await api.count("access_tokens") == 0)
        let tokens = try await redeem(session, code: code)
        #expect(tokens.status == 200)
        let again = try await api.redeem(session)
        #expect(again.json.text("refresh_token") == tokens.json.text("refresh_token"), "a lost answer costs no other code")
    }

    @Test(.apiWithMail { $0.deviceKeys.newDevices = .code })
    func `a device that was verified is known from then on, by its key`() async throws {
        let device = try DeviceSigner()
        let signUp = try await api.start(Path.signUp, .signUp(email: Self.email))
        try await api.decide(signUp.id, .succeeded)
        let first = try await api.decidedSignIn(by: device)
        let path = { (id: UUID) in Path.session(id) + "/token" }
        #expect(try await api.send("POST", path(first.id), by: device, bearer: first.token).refusal == "403 verification_required code")
        let code = try await api.mailbox.code(to: Self.email)
        let tokens = try await api.send("POST", path(first.id), by: device, bearer: first.token, json: #"{"code":"\#(code)"}"#)
        #expect(tokens.status == 200)
        let second = try await api.decidedSignIn(by: device)
        let known = try await api.send("POST", path(second.id), by: device, bearer: second.token)
        #expect(known.status == 200)
        #expect(try await api.logout(try #require(known.json.text("access_token"))).status == 200)
        let third = try await api.decidedSignIn(by: device)
        #expect(try await api.send("POST", path(third.id), by: device, bearer: third.token).status == 200, "signed out by its owner")
        let plain = try await decidedSignIn()
        #expect(try await api.redeem(plain).refusal == "403 verification_required code", "the id alone, which has had a key")
        let stranger = try DeviceSigner()
        let other = try await api.decidedSignIn(by: stranger)
        let answer = try await api.send("POST", path(other.id), by: stranger, bearer: other.token)
        #expect(answer.refusal == "403 verification_required code", "another key with the same id")
    }

    @Test(.apiWithMail { $0.deviceKeys.newDevices = .code })
    func `a device whose sign-in was ended from elsewhere is new again`() async throws {
        let device = try DeviceSigner()
        let access = try await api.verifiedSignIn(by: device).accessToken
        #expect(try await api.send("DELETE", "/v1/users/me/sessions", headers: [("Authorization", "Bearer \(access)")]).status == 204)
        let second = try await api.decidedSignIn(by: device)
        let answer = try await api.send("POST", Path.session(second.id) + "/token", by: device, bearer: second.token)
        #expect(answer.refusal == "403 verification_required code")
    }

    @Test(.apiWithMail { $0.deviceKeys.newDevices = .code })
    func `an app without a key is known by its installation, and another installation is not`() async throws {
        let session = try await firstSignIn()
        _ = try await api.redeem(session)
        #expect(try await redeem(session, code: try await api.mailbox.code(to: Self.email)).status == 200)
        #expect(try await api.redeem(try await decidedSignIn()).status == 200)
        let other = try await decidedSignIn(pushToken: IdentityFixture.secondPhone)
        #expect(try await api.redeem(other).refusal == "403 verification_required code")
        let none = try await decidedSignIn(pushToken: "")
        #expect(try await api.redeem(none).refusal == "403 verification_required code", "a phone without pushes")
    }

    @Test(.apiWithMail { $0.deviceKeys.newDevices = .code })
    func `wrong codes use up the attempts, and the right one is refused then`() async throws {
        let session = try await firstSignIn()
        _ = try await api.redeem(session)
        let code = try await api.mailbox.code(to: Self.email)
        for left in (0..<EmailVerificationRepository.maxAttempts).reversed() {
            let answer = try await redeem(session, code: wrong(code))
            #expect(answer.refusal == "400 invalid_code code")
            #expect(answer.json.number("error.attempts_left") == left)
        }
        #expect(try await redeem(session, code: code).refusal == "400 invalid_code code")
        #expect(try await api.redeem(session).refusal == "403 verification_required code")
        #expect(try await api.count("access_tokens") == 0)
        try await api.postgres.execute("UPDATE email_verifications SET mailed_at = mailed_at - interval '61 seconds'")
        try await api.postgres.execute("UPDATE code_mails SET requested_at = requested_at - interval '61 seconds'")
        let resent = try await api.post("/v1/auth/resend", #"{"verification_id":"\#(session.id.wireString)"}"#)
        #expect(resent.status == 202)
        let next = try await api.mailbox.code(to: Self.email, count: 2)
        #expect(try await redeem(session, code: next).status == 200)
    }

    @Test(.apiWithMail { $0.deviceKeys.newDevices = .code })
    func `asking again causes no other mail, and shows the same reference`() async throws {
        let session = try await firstSignIn()
        let answers = try await race(4) { _ in try await api.redeem(session) } + [try await api.redeem(session)]
        #expect(answers.allSatisfy { $0.refusal == "403 verification_required code" })
        #expect(Set(answers.map { $0.json.text("error.reference") }).count == 1)
        #expect(try await api.count("email_verifications WHERE purpose = 'sign_in'") == 1)
        #expect(try await api.count("code_mails") == 1)
    }

    @Test(.apiWithMail { $0.deviceKeys.newDevices = .code })
    func `the code of a sign-in counts for its session alone, with its token`() async throws {
        let session = try await firstSignIn()
        _ = try await api.redeem(session)
        let code = try await api.mailbox.code(to: Self.email)
        let elsewhere = try await api.post(
            "/v1/auth/verify", #"{"verification_id":"\#(session.id.wireString)","code":"\#(code)"}"#)
        #expect(elsewhere.refusal == "400 invalid_request verification_id")
        let other = try await decidedSignIn()
        #expect(try await redeem(other, code: code).refusal == "403 verification_required code")
        #expect(try await redeem((session.id, other.token), code: code).refusal == "401 unauthorized")
        #expect(try await redeem(session, code: code).status == 200)
    }

    @Test(.apiWithMail { $0.deviceKeys.newDevices = .code })
    func `a sign-in with a proof of the e-mail needs no other code`() async throws {
        let signUp = try await api.start(Path.signUp, .signUp(email: Self.email))
        try await api.decide(signUp.id, .succeeded)
        let registered = try await api.post("/v1/auth/register", #"{"email":"\#(Self.email)"}"#)
        let id = try #require(registered.json.text("data.verification_id"))
        let code = try await api.mailbox.code(to: Self.email)
        let verified = try await api.post("/v1/auth/verify", #"{"verification_id":"\#(id)","code":"\#(code)"}"#)
        let token = try #require(verified.json.text("data.enrolment_token"))
        let session = try await api.start(Path.login, .signIn(), headers: [("Authorization", "Bearer \(token)")])
        try await api.decide(session.id, .succeeded)
        #expect(try await api.redeem(session).status == 200)
    }

    @Test(.apiWithMail { $0.deviceKeys.newDevices = .code })
    func `a code is asked for within five minutes after the success, however late its mail comes`() async throws {
        let (late, other) = (try await firstSignIn(), try await decidedSignIn())
        func age(_ id: UUID, by minutes: Double) async throws {
            try await api.postgres.execute(
                "UPDATE sessions SET completed_at = now() - make_interval(secs => \(minutes * 60)) WHERE id = \(id)")
        }
        try await age(late.id, by: 5.1)
        #expect(try await api.redeem(late).refusal == "403 forbidden")
        #expect(try await api.count("email_verifications WHERE purpose = 'sign_in'") == 0)
        _ = try await api.redeem(other)
        let code = try await api.mailbox.code(to: Self.email)
        try await age(other.id, by: 60)
        let tokens = try await redeem(other, code: code)
        #expect(tokens.status == 200)
        #expect(try await api.redeem(other).json.text("refresh_token") == tokens.json.text("refresh_token"))
        try await api.postgres.execute("UPDATE email_verifications SET verified_at = now() - interval '301 seconds'")
        #expect(try await api.redeem(other).refusal == "403 forbidden")
    }

    @Test(.apiWithMail { $0.deviceKeys.newDevices = .code })
    func `neither a code that was entered long ago nor the end of all sign-ins lets a new device in`() async throws {
        let (old, ended) = (try await firstSignIn(), try await decidedSignIn())
        _ = try await api.redeem(old)
        try await api.postgres.execute("UPDATE email_verifications SET verified_at = now() - interval '301 seconds'")
        #expect(try await api.redeem(old).refusal == "403 forbidden")
        try await api.postgres.execute("UPDATE users SET sign_ins_ended_at = now()")
        #expect(try await api.redeem(ended).refusal == "403 forbidden")
        #expect(try await api.count("email_verifications WHERE purpose = 'sign_in'") == 1, "no mail says that a face was recognised")
        #expect(try await api.count("access_tokens") == 0)
    }

    @Test(.apiWithMail { $0.deviceKeys.newDevices = .code })
    func `the code is taken once, by one of several requests at the same time`() async throws {
        let session = try await firstSignIn()
        _ = try await api.redeem(session)
        let code = try await api.mailbox.code(to: Self.email)
        let answers = try await race(4) { _ in try await redeem(session, code: code) }
        #expect(answers.allSatisfy { $0.status == 200 })
        #expect(Set(answers.map { $0.json.text("refresh_token") }).count == 1)
        #expect(try await api.count("access_tokens") == 1)
    }

    @Test(
        .apiWithMail { configuration in
            configuration.deviceKeys.newDevices = .code
            configuration.limits.wrongCodes.total = 1
        })
    func `wrong codes of sign-ins count in the brake of all`() async throws {
        let session = try await firstSignIn()
        _ = try await api.redeem(session)
        let code = try await api.mailbox.code(to: Self.email)
        for _ in 0..<2 { #expect(try await redeem(session, code: wrong(code)).refusal == "400 invalid_code code") }
        #expect(try await redeem(session, code: wrong(code)).refusal == "429 rate_limited")
    }

    @Test(.apiWithMail { $0.deviceKeys.newDevices = .code })
    func `a mail has the codes of several sign-ins, each beside its reference`() async throws {
        let (first, second) = (try await firstSignIn(), try await decidedSignIn())
        _ = try await api.redeem(first)
        let alone = try await api.mailbox.code(to: Self.email)
        let asked = try await api.redeem(second)
        try await api.postgres.execute("UPDATE code_mails SET due_at = now() - interval '1 second' WHERE requested_at IS NULL")
        let reference = try #require(asked.json.text("error.reference"))
        let code = try await api.mailbox.code(to: Self.email, for: reference, count: 2)
        #expect(try await api.mailbox.mail(to: Self.email, count: 2).subject == "Your codes to sign in")
        #expect(try await redeem(second, code: alone).refusal == "400 invalid_code code", "that of the other session")
        #expect(try await redeem(second, code: code).status == 200)
    }

    @Test(
        .apiWithMail { configuration in
            configuration.deviceKeys.newDevices = .code
            configuration.deviceKeys.policy = .required
        })
    func `where keys are required, the id of an installation makes no device known`() async throws {
        let device = try DeviceSigner()
        _ = try await api.verifiedSignIn(by: device)
        try await api.postgres.execute("UPDATE access_tokens SET device_key = NULL, device_key_storage = NULL")
        let stranger = try DeviceSigner()
        let second = try await api.decidedSignIn(by: stranger)
        let answer = try await api.send("POST", Path.session(second.id) + "/token", by: stranger, bearer: second.token)
        #expect(answer.refusal == "403 verification_required code")
    }

    @Test(.apiWithMail { $0.deviceKeys.newDevices = .code })
    func `a sign-in that was refused or is not decided asks for no code`() async throws {
        let signUp = try await api.start(Path.signUp, .signUp(email: Self.email))
        #expect(try await api.redeem(signUp).refusal == "403 forbidden")
        try await api.decide(signUp.id, .succeeded)
        let session = try await api.start()
        #expect(try await api.redeem(session).refusal == "409 request_in_progress")
        try await api.decide(session.id, .failed(.noMatch))
        #expect(try await api.redeem(session).refusal == "403 forbidden")
        #expect(try await api.count("email_verifications WHERE purpose = 'sign_in'") == 0)
    }

    @Test(.api) func `with the face alone a new device gets tokens at once`() async throws {
        #expect(try await api.redeem(try await firstSignIn()).status == 200)
    }
}
