import Foundation
import HTTPClient
import JSON
import PostgresClient
import Storage
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

    /// Makes everything of all verifications older.
    private func age(by seconds: Int) async throws {
        try await api.postgres.execute(
            """
            UPDATE email_verifications SET created_at = created_at - make_interval(secs => \(Double(seconds))),
                mailed_at = mailed_at - make_interval(secs => \(Double(seconds))),
                code_expires_at = code_expires_at - make_interval(secs => \(Double(seconds)))
            """)
    }

    private func times(_ answer: HTTPClientResponse) -> [Int?] {
        [answer.json.number("data.expires_in"), answer.json.number("data.resend_after")]
    }

    @Test(.apiWithMail) func `within a minute the answer has the time that is left of the code and of the minute`() async throws {
        let first = try await register()
        #expect(times(first) == [600, 60])
        try await age(by: 40)
        let answer = try await resend(try #require(first.json.text("data.verification_id")))
        #expect(answer.status == 202)
        #expect((550...560).contains(try #require(answer.json.number("data.expires_in"))))
        #expect((10...20).contains(try #require(answer.json.number("data.resend_after"))))
        #expect(try await api.count("outbox") == 1, "no other mail")
    }

    @Test(.apiWithMail, arguments: [true, false])
    func `the times are the same whether the address has an account or not`(hasAccount: Bool) async throws {
        if hasAccount {
            let id = UUID()
            let sealed = try api.keys.sealed(try #require(EmailAddress(email)), of: id)
            _ = try await api.postgres.makeUser(id: id, emailLookup: sealed.lookups[0], emailSealed: sealed.sealed)
        }
        let first = try await register()
        #expect(times(first) == [600, 60])
        try await age(by: 60)
        #expect(times(try await resend(try #require(first.json.text("data.verification_id")))) == [600, 60])
    }

    @Test(.apiWithMail) func `when the address has had its mails, the answer says when the first of them is a day old`() async throws {
        for _ in 1..<EmailVerificationRepository.maxMailsPerRequester { #expect(times(try await register()) == [600, 60]) }
        try await age(by: 3_600)
        let last = try await register()
        #expect(last.json.number("data.expires_in") == 600)
        #expect((22 * 3_600...23 * 3_600).contains(try #require(last.json.number("data.resend_after"))), "it was the last mail")
        let refused = try await register()
        #expect(refused.status == 202 && refused.json.number("data.expires_in") == 0, "it has no code that could be entered")
        #expect((22 * 3_600...23 * 3_600).contains(try #require(refused.json.number("data.resend_after"))))
        #expect(try await api.count("outbox") == EmailVerificationRepository.maxMailsPerRequester)
        // Just before the others are a day old, and then.
        try await age(by: 23 * 3_600 - 30)
        #expect((1...60).contains(try #require(try await register().json.number("data.resend_after"))))
        try await age(by: 30)
        #expect(times(try await register()) == [600, 60])
    }

    @Test(.apiWithMail) func `after five codes no other is mailed, and the answer says so`() async throws {
        let id = try #require(try await register().json.text("data.verification_id"))
        for _ in 1..<EmailVerificationRepository.maxCodes {
            try await age(by: 60)
            #expect(try await resend(id).status == 202)
        }
        try await age(by: 60)
        #expect(try await resend(id).refusal == "409 limit_reached verification_id")
    }

    @Test(.apiWithMail) func `a verification that is unknown, proven or a day old gets no other code`() async throws {
        #expect(try await resend(UUID().wireString).refusal == "404 not_found verification_id")
        let proven = try #require(try await register().json.text("data.verification_id"))
        let code = try await api.mailbox.code(to: email)
        #expect(try await api.post("/v1/auth/verify", #"{"verification_id":"\#(proven)","code":"\#(code)"}"#).status == 200)
        #expect(try await resend(proven).refusal == "404 not_found verification_id")
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
