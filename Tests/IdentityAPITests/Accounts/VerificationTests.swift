import Foundation
import HTTPClient
import HeliographCrypto
import Mail
import PostgresClient
import Storage
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

    @Test(.apiWithMail) func `a code counts only for the verification that it was mailed for`() async throws {
        let stranger = try await register(email)
        _ = try await api.mailbox.code(to: email)
        let owner = try await register(email)
        let code = try await api.mailbox.code(to: email, count: 2)
        #expect(try await verify(stranger, code).status == 400)
        #expect(try await verify(owner, code).status == 200)
    }

    @Test(.apiWithMail) func `a new code voids the one before, and is mailed at most once a minute`() async throws {
        let id = try await register(email)
        let first = try await api.mailbox.code(to: email)
        #expect(try await api.post("/v1/auth/resend", #"{"verification_id":"\#(id)"}"#).status == 202)
        try await api.postgres.execute("UPDATE email_verifications SET mailed_at = now() - interval '1 minute'")
        #expect(try await api.post("/v1/auth/resend", #"{"verification_id":"\#(id)"}"#).status == 202)
        let second = try await api.mailbox.code(to: email, count: 2)
        #expect(try await verify(id, first).status == (first == second ? 200 : 400))
        #expect(try await verify(id, second).status == 200)
        #expect(api.mailbox.mails(to: email).count == 2)
    }

    @Test(.apiWithMail) func `a client asks for six mails a day to an address, another client for more, and the answer stays the same`()
        async throws
    {
        var last = ""
        let mails = {
            try await api.postgres.query("SELECT count(*) AS n FROM outbox WHERE type = 'mail.requested'").required().decode(
                "n", as: Int.self)
        }
        for _ in 0...EmailVerificationRepository.maxMailsPerRequester { last = try await register(email) }
        #expect(try await mails() == EmailVerificationRepository.maxMailsPerRequester)
        // Mails overtake each other: the next is the last one only when these have come.
        _ = try await api.mailbox.code(to: email, count: EmailVerificationRepository.maxMailsPerRequester)
        // As if all these came from other clients.
        try await api.postgres.execute("UPDATE email_verifications SET address_key = sha256('another')")
        let own = try await register(email)
        #expect(try await mails() == EmailVerificationRepository.maxMailsPerRequester + 1)
        #expect(
            try await verify(own, api.mailbox.code(to: email, count: EmailVerificationRepository.maxMailsPerRequester + 1)).status == 200)
        let all = EmailVerificationRepository.maxMailsPerDay
        try await api.postgres.execute("UPDATE email_verifications SET code_number = \(all) WHERE id = \(UUID(uuidString: own)!)")
        last = try await register(email)
        #expect(try await mails() == EmailVerificationRepository.maxMailsPerRequester + 1, "all clients together have had theirs")
        let id = try #require(UUID(uuidString: last))
        let unsent = try #require(try await EmailVerificationRepository(api.postgres).find(id: id))
        #expect(try await verify(last, api.keys.codes(of: unsent)[0]).status == 400, "a code that was not sent cannot be guessed")
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
