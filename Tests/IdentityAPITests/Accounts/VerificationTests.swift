import Accounts
import Foundation
import HTTPClient
import HeliographCrypto
import Mail
import PostgresClient
import TestSupport
import Testing

@testable import IdentityAPI

@Suite struct VerificationTests {
    private let email = "ada@example.org"

    private func register(_ email: String) async throws -> String {
        let answer = try await api.post("/v1/auth/register", #"{"email":"\#(email)","display_name":"Ada"}"#)
        #expect(answer.status == 202)
        return try #require(answer.json.text("data.verification_id"))
    }

    private func verify(_ id: String, _ code: String) async throws -> HTTPClientResponse {
        try await api.post("/v1/auth/verify", #"{"verification_id":"\#(id)","code":"\#(code)"}"#)
    }

    @Test(.apiWithMail) func `a registration mails six digits, which give an enrolment token`() async throws {
        let id = try await register(email)
        let mail = try await api.mailbox.mail(to: email)
        let code = try await api.mailbox.code(to: email)
        #expect(mail.subject == "\(code) is your code")
        let answer = try await verify(id, code)
        #expect(answer.status == 200)
        #expect(answer.json.text("data.purpose") == "registration")
        #expect(answer.json.text("data.enrolment_token")?.hasPrefix("enrolment.") == true)
        #expect(answer.header("Cache-Control") == "no-store")
    }

    @Test(.apiWithMail) func `the code entered again gives the same token`() async throws {
        let id = try await register(email)
        let code = try await api.mailbox.code(to: email)
        let first = try await verify(id, code).json.text("data.enrolment_token")
        #expect(try await verify(id, code).json.text("data.enrolment_token") == first)
    }

    @Test(.apiWithMail) func `neither a code nor a token is stored`() async throws {
        let id = try await register(email)
        let code = try await api.mailbox.code(to: email)
        let token = try #require(try await verify(id, code).json.text("data.enrolment_token"))
        let row = try await api.postgres.query("SELECT v::text AS text FROM email_verifications v")[0].decode("text", as: String.self)
        #expect(!row.contains(code) && !row.contains(token) && !row.contains(email))
    }

    @Test(.apiWithMail) func `after five wrong codes the right one is refused, too`() async throws {
        let id = try await register(email)
        let code = try await api.mailbox.code(to: email)
        let wrong = code == "000000" ? "000001" : "000000"
        for _ in 0..<EmailVerificationRepository.maxAttempts {
            let answer = try await verify(id, wrong)
            #expect(answer.status == 400 && answer.json.text("error.code") == "invalid_code")
        }
        #expect(try await verify(id, code).status == 400)
    }

    @Test(.apiWithMail) func `a code that expired is refused`() async throws {
        let id = try await register(email)
        let code = try await api.mailbox.code(to: email)
        try await api.postgres.execute("UPDATE email_verifications SET code_expires_at = now()")
        #expect(try await verify(id, code).status == 400)
    }

    @Test(.apiWithMail) func `a mail has the codes of all open requests, each for its own verification`() async throws {
        let first = try await register(email)
        _ = try await api.mailbox.mail(to: email)
        var waiting: [(id: String, reference: String)] = []
        for _ in 0..<2 {
            let answer = try await api.post("/v1/auth/register", #"{"email":"\#(email)"}"#)
            #expect(answer.json.number("data.mail_after") == 60)
            waiting.append(
                (try #require(answer.json.text("data.verification_id")), try #require(answer.json.text("data.reference"))))
        }
        #expect(api.mailbox.mails(to: email).count == 1)
        try await api.forgetMails()
        _ = try await api.mailbox.mail(to: email, count: 2)
        let codes = [
            try await api.mailbox.code(to: email, for: waiting[0].reference, count: 2),
            try await api.mailbox.code(to: email, for: waiting[1].reference, count: 2),
        ]
        let mailed = try await self.code(of: first)
        #expect(try await verify(first, codes[0]).status == (codes[0] == mailed ? 200 : 400))
        if codes[0] != codes[1] { #expect(try await verify(waiting[0].id, codes[1]).status == 400) }
        for (request, code) in zip(waiting, codes) { #expect(try await verify(request.id, code).status == 200) }
        #expect(api.mailbox.mails(to: email)[1].subject == "Your codes")
    }

    /// The code of a verification that was mailed last.
    private func code(of id: String) async throws -> String {
        let row = try await EmailVerificationRepository(api.postgres).find(id: try #require(UUID(uuidString: id)))
        return api.keys.codes(of: try #require(row))[0]
    }

    @Test(.apiWithMail) func `a new code voids the one before, and is mailed at most once a minute`() async throws {
        let id = try await register(email)
        let first = try await api.mailbox.code(to: email)
        #expect(try await api.post("/v1/auth/resend", #"{"verification_id":"\#(id)"}"#).status == 202)
        try await api.forgetMails()
        try await api.postgres.execute("UPDATE email_verifications SET mailed_at = now() - interval '1 minute'")
        #expect(try await api.post("/v1/auth/resend", #"{"verification_id":"\#(id)"}"#).status == 202)
        let second = try await api.mailbox.code(to: email, count: 2)
        #expect(try await verify(id, first).status == (first == second ? 200 : 400))
        #expect(try await verify(id, second).status == 200)
        #expect(api.mailbox.mails(to: email).count == 2)
    }

    @Test(.apiWithMail { $0.limits.wrongCodes.total = 4 })
    func `while too many wrong codes are entered, a client that has entered two waits, and others do not`() async throws {
        let id = try await register(email)
        let code = try await api.mailbox.code(to: email)
        let wrong = code == "000000" ? "000001" : "000000"
        for _ in 0..<2 { #expect(try await verify(id, wrong).status == 400) }
        try await api.postgres.execute(
            "INSERT INTO wrong_codes (site_key, is_in_total) SELECT sha256('another'), true FROM generate_series(1, 2)")
        let refused = try await verify(id, code)
        #expect(refused.refusal == "429 rate_limited" && refused.header("Retry-After") != nil)
        // As if the wrong codes of this client were another one's.
        try await api.postgres.execute("UPDATE wrong_codes SET site_key = sha256('another')")
        #expect(try await verify(id, code).status == 200)
    }

    @Test(.apiWithMail { $0.limits.verifications = Rate(perMinute: 1, burst: 2) })
    func `one client enters as many codes as it may ask for mails, whatever they are for`() async throws {
        for _ in 0..<2 { #expect(try await verify(UUID().uuidString, "000000").status == 400) }
        let refused = try await verify(UUID().uuidString, "000000")
        #expect(refused.refusal == "429 rate_limited" && refused.header("Retry-After") != nil)
        #expect(try await api.post("/v1/auth/register", #"{"email":"\#(email)"}"#).status == 202, "mails are counted apart")
    }

    @Test(.apiWithMail) func `the mail to an address with an account says so, and the answer does not`() async throws {
        let id = UUID()
        let known = try api.keys.sealed(try #require(EmailAddress(email)), of: id)
        _ = try await api.postgres.makeUser(id: id, emailLookup: known.lookups[0], emailSealed: known.sealed)
        _ = try await register(email)
        #expect(try await api.mailbox.mail(to: email).subject == "Somebody signed up with your address")
    }

    @Test(.apiWithMail) func `a mail server that is down delays the mail`() async throws {
        api.mailbox.fail(MailError(.unavailable, "down"))
        _ = try await register(email)
        #expect(try await api.mailbox.mail(to: email).to == email)
    }

    @Test(.apiWithMail) func `a recipient that is refused gets no further attempts`() async throws {
        api.mailbox.fail(MailError(.recipientRefused, "unknown"))
        _ = try await register(email)
        try await eventually("the message is handled") { try await api.count("inbox") == 1 }
        #expect(api.mailbox.mails(to: email).isEmpty)
    }

    @Test(.apiWithMail, arguments: ["", "nobody", #"a@b.c\u0000"#, "a b@example.org"])
    func `an address that is none is refused`(_ address: String) async throws {
        let answer = try await api.post("/v1/auth/register", #"{"email":"\#(address)"}"#)
        #expect(answer.status == 400)
        #expect(try await api.count("email_verifications") == 0)
    }
}
