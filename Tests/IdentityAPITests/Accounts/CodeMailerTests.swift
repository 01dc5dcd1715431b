import Accounts
import Foundation
import HTTPClient
import PostgresClient
import ServiceDefaults
import TestSupport
import Testing

@testable import IdentityAPI

/// When mails with codes are published, and by which instance.
@Suite struct CodeMailerTests {
    private let email = "ada@example.org"

    private func register(_ email: String) async throws -> String {
        try #require(try await api.post("/v1/auth/register", #"{"email":"\#(email)"}"#).json.text("data.verification_id"))
    }

    @Test(.apiWithMail) func `a mail that a process has planned is published by another one`() async throws {
        let sealed = try api.keys.sealed(try #require(EmailAddress(email)), of: UUID())
        let planned = try await api.postgres.withTransaction { transaction in
            try await EmailVerificationRepository(transaction).insert(NewEmailVerification(purpose: .registration, email: sealed))
        }
        #expect(planned.isDue)
        try await eventually("it is published") { try await api.count("outbox WHERE type = 'mail.requested'") == 1 }
        #expect(try await api.count("code_mails WHERE requested_at IS NULL") == 0)
    }

    @Test(.apiWithMail { $0.limits.codeMails = 36 })
    func `beyond the total a mail waits, and the answer says so`() async throws {
        for number in 0..<6 { _ = try await register("user\(number)@example.org") }
        let answer = try await api.post("/v1/auth/register", #"{"email":"\#(email)"}"#)
        #expect(answer.json.number("data.mail_after") == 60)
        #expect(try await api.count("outbox") == 6)
        try await api.postgres.execute("UPDATE code_mails SET requested_at = requested_at - interval '10 seconds'")
        _ = try await api.mailbox.mail(to: email)
    }

    @Test(.apiWithMail) func `two instances publish a mail once`() async throws {
        let api = api
        for number in 0..<8 {
            let sealed = try api.keys.sealed(try #require(EmailAddress("user\(number)@example.org")), of: UUID())
            _ = try await api.postgres.withTransaction { transaction in
                try await EmailVerificationRepository(transaction).insert(NewEmailVerification(purpose: .registration, email: sealed))
            }
        }
        try await race(4) { _ in try await api.codeMailer.publishDue() }
        try await eventually("all are published") { try await api.count("code_mails WHERE requested_at IS NULL") == 0 }
        #expect(try await api.count("outbox WHERE type = 'mail.requested'") == 8)
    }

    @Test(.apiWithMail) func `a mail whose request was proven meanwhile is not sent`() async throws {
        _ = try await register(email)
        _ = try await api.mailbox.mail(to: email)
        let waiting = try #require(UUID(uuidString: try await register(email)))
        _ = try await EmailVerificationRepository(api.postgres).verify(id: waiting)
        try await api.postgres.execute("UPDATE email_verifications SET code_expires_at = now() WHERE id <> \(waiting)")
        try await api.forgetMails()
        try await eventually("the plan is dropped") { try await api.count("code_mails WHERE requested_at IS NULL") == 0 }
        #expect(try await api.count("outbox") == 1)
    }

    @Test(.apiWithMail) func `requests that have no place in a mail have one in the next`() async throws {
        _ = try await register(email)
        for number in 0..<10 {
            let id = try #require(UUID(uuidString: try await register(email)))
            let site = Array("site \(number)".utf8)
            try await api.postgres.execute("UPDATE email_verifications SET site_key = sha256(\(site)) WHERE id = \(id)")
        }
        try await api.postgres.execute("UPDATE code_mails SET due_at = now()")
        try await eventually("the mail is published") { try await api.count("code_mails WHERE requested_at IS NOT NULL") == 2 }
        #expect(try await api.count("code_mails WHERE requested_at IS NULL AND due_at > now()") == 1)
        #expect(try await api.count("email_verifications WHERE asked_at IS NULL") >= CodeMailRules.maxRequests)
    }

    @Test func `an address has a limit, and the blocks that it is part of some times as many`() throws {
        let limiter = PrefixRateLimiter(Rate(perMinute: 1, burst: 2), name: "codes")
        func admitted(_ addresses: [String]) throws -> Int {
            try addresses.map { try #require(IPAddress($0)) }.count { (try? limiter.admit($0, RateLimitRecord(), or: "Too many")) != nil }
        }
        #expect(try admitted(Array(repeating: "2001:db8::1", count: 5)) == 2, "a /64")
        #expect(try admitted((1...20).map { "2001:db8:0:\($0)::1" }) == 6, "a /56 has eight")
        #expect(try admitted((1...90).map { "2001:db8:0:\(String($0 * 256, radix: 16))::1" }) == 24, "a /48 has 32")
        #expect(try admitted((1...90).map { "203.0.113.\($0)" }) == 32, "a /24 of IPv4")
        #expect(try admitted(["203.0.114.1", "2001:db8:1::1"]) == 2)
    }
}
