import Accounts
import Foundation
import HTTPClient
import JSON
import PostgresClient
import TestSupport
import Testing
import WireFormat

@testable import IdentityAPI

/// The times in the answers to requests for a code.
@Suite struct ResendTests {
    private let email = "ada@example.org"

    private func register() async throws -> HTTPClientResponse { try await api.post("/v1/auth/register", #"{"email":"\#(email)"}"#) }

    private func resend(_ id: String) async throws -> HTTPClientResponse {
        try await api.post("/v1/auth/resend", #"{"verification_id":"\#(id)"}"#)
    }

    /// Makes everything of all verifications and mails older.
    private func age(by seconds: Int) async throws {
        try await api.postgres.execute(
            """
            UPDATE email_verifications SET created_at = created_at - make_interval(secs => \(Double(seconds))),
                mailed_at = mailed_at - make_interval(secs => \(Double(seconds))),
                code_expires_at = code_expires_at - make_interval(secs => \(Double(seconds)))
            """)
        try await api.postgres.execute(
            """
            UPDATE code_mails SET due_at = due_at - make_interval(secs => \(Double(seconds))),
                requested_at = requested_at - make_interval(secs => \(Double(seconds)))
            """)
    }

    private func times(_ answer: HTTPClientResponse) -> [Int?] {
        ["mail_after", "expires_in", "resend_after"].map { answer.json.number("data.\($0)") }
    }

    @Test(.apiWithMail) func `within a minute the answer has the time that is left of the code and of the minute`() async throws {
        let first = try await register()
        #expect(times(first) == [0, 600, 60])
        try await age(by: 40)
        let answer = try await resend(try #require(first.json.text("data.verification_id")))
        #expect(answer.status == 202 && answer.json.text("data.reference") == first.json.text("data.reference"))
        #expect(answer.json.number("data.mail_after") == 0)
        #expect((550...560).contains(try #require(answer.json.number("data.expires_in"))))
        #expect((10...20).contains(try #require(answer.json.number("data.resend_after"))))
        #expect(try await api.count("outbox") == 1, "no other mail")
    }

    @Test(.apiWithMail, arguments: [true, false])
    func `the answers are the same whether the address has an account or not`(hasAccount: Bool) async throws {
        if hasAccount {
            let id = UUID()
            let sealed = try api.keys.sealed(try #require(EmailAddress(email)), of: id)
            _ = try await api.postgres.makeUser(id: id, emailLookup: sealed.lookups[0], emailSealed: sealed.sealed)
        }
        let first = try await register()
        #expect(times(first) == [0, 600, 60] && first.json.text("data.reference")?.count == 4)
        #expect(times(try await register()) == [60, 660, 120], "the address has had a mail")
        try await age(by: 60)
        try await eventually("the second one is mailed") { try await api.count("code_mails WHERE requested_at IS NOT NULL") == 2 }
        #expect(times(try await resend(try #require(first.json.text("data.verification_id")))) == [60, 660, 120])
    }

    @Test(.apiWithMail) func `a wait of more than a minute is rounded up, so that it does not tell when others asked`() async throws {
        for _ in 0..<4 {
            _ = try await register()
            try await age(by: 60)
            try await eventually("the mail is sent") { try await api.count("code_mails WHERE requested_at IS NULL") == 0 }
        }
        #expect(times(try await register()) == [300, 900, 360])
        try await age(by: 100)
        #expect(times(try await register()) == [300, 900, 360])
        try await age(by: 90)
        #expect(times(try await register()) == [60, 660, 120])
    }

    @Test(.apiWithMail) func `after five codes no other is mailed, and the answer says so`() async throws {
        let id = try #require(try await register().json.text("data.verification_id"))
        for _ in 1..<EmailVerificationRepository.maxCodes {
            try await age(by: 1_800)
            #expect(try await resend(id).json.number("data.mail_after") == 0)
        }
        try await age(by: 1_800)
        #expect(try await resend(id).refusal == "409 limit_reached verification_id")
    }

    @Test(.apiWithMail) func `a verification that is unknown, proven or a day old gets no other code`() async throws {
        #expect(try await resend(UUID().wireString).refusal == "404 not_found verification_id")
        let proven = try #require(try await register().json.text("data.verification_id"))
        let code = try await api.mailbox.code(to: email)
        #expect(try await api.post("/v1/auth/verify", #"{"verification_id":"\#(proven)","code":"\#(code)"}"#).status == 200)
        #expect(try await resend(proven).refusal == "404 not_found verification_id")
        try await api.forgetMails()
        let old = try #require(try await register().json.text("data.verification_id"))
        try await age(by: 24 * 3_600)
        #expect(try await resend(old).refusal == "404 not_found verification_id")
    }

    @Test(.apiWithMail) func `a wrong code is answered with the attempts that are left, and without any with none for the code`()
        async throws
    {
        let id = try #require(try await register().json.text("data.verification_id"))
        let code = try await api.mailbox.code(to: email)
        let wrong = code == "000000" ? "000001" : "000000"
        for left in [4, 3, 2, 1, 0, 0] {
            let answer = try await api.post("/v1/auth/verify", #"{"verification_id":"\#(id)","code":"\#(wrong)"}"#)
            #expect(answer.json.number("error.attempts_left") == left && answer.json.value("error.retryable") == false)
        }
        #expect(try await resend(id).json.number("data.expires_in") == 0, "nothing is left of the code")
    }
}
