import FoundationEssentials
import PostgresClient
import TestSupport
import Testing

@testable import Accounts

/// Whose codes are in a mail: at most eight.
struct CodeMailPlaceTests {
    private let mails = CodeMails()

    /// Asks from other sites, one after the other.
    private func strangers(_ numbers: Range<Int>) async throws {
        for number in numbers {
            try await mails.ask(from: number)
            try await CodeMails.age(by: 1)
        }
    }

    @Test(.storage) func `the owner's request after those of 60 strangers is in the next mail`() async throws {
        try await mails.ask(from: 0, isPublished: true)
        try await strangers(1..<61)
        let owner = try await mails.ask(from: 100)
        let requests = try await mails.publish(owner.mail)
        #expect(requests.count == CodeMailRules.maxRequests && requests.contains(owner.id))
    }

    @Test(.storage) func `a proven request has a place, however many ask after it`() async throws {
        try await mails.prove(try await mails.ask(from: 100).id)
        let owner = try await mails.ask(from: 100)
        try await strangers(1..<21)
        #expect(try await mails.publish(owner.mail).contains(owner.id))
    }

    @Test(.storage) func `requests without a place wait for the next mail, where the one that has waited longest has one`() async throws {
        let owner = try await mails.ask(from: 100)
        try await CodeMails.age(by: 1)
        try await strangers(1..<3)
        // In the first mail the one that has waited longest.
        #expect(try await mails.publish(owner.mail).contains(owner.id))
        let later = try await mails.ask(from: 101)
        try await CodeMails.age(by: 60)
        try await strangers(3..<33)
        #expect(try await mails.publish(later.mail).contains(later.id), "thirty have asked since")
        #expect(try await client.query("SELECT FROM email_verifications WHERE asked_at IS NOT NULL").count == 23)
        let next = try await client.query("SELECT due_at > now() AS waits FROM code_mails WHERE requested_at IS NULL")
        #expect(try next.column("waits", as: Bool.self) == [true])
    }

    @Test(.storage) func `a site that had codes comes after those that had none, however its requests are timed`() async throws {
        for _ in 0..<2 {
            try await strangers(0..<10)
            try await mails.publish(mails.ask(from: 0).mail)
            try await CodeMails.age(by: 60)
        }
        // Four that are older than the owner's, and six that are newer, would take all places.
        try await strangers(6..<10)
        let owner = try await mails.ask(from: 100)
        try await CodeMails.age(by: 1)
        try await strangers(0..<6)
        #expect(try await mails.publish(owner.mail).contains(owner.id))
    }

    @Test(.storage) func `one site has one place, when others want one`() async throws {
        let owner = try await mails.ask(from: 100)
        try await CodeMails.age(by: 1)
        for _ in 0..<20 { try await mails.ask(from: 1) }
        #expect(try await mails.publish(owner.mail).contains(owner.id))
    }

    @Test(.storage) func `where few ask, each code has five attempts, and where more do two, but that of a bearer`() async throws {
        let (first, second) = (try await mails.ask(from: 1), try await mails.ask(from: 2).id)
        let bearer = try await mails.ask(from: 3, .emailChange).id
        func attempts(_ ids: UUID...) async throws -> [Int] {
            var left: [Int] = []
            for id in ids { left.append(try #require(try await CodeMails.verification(id)).attemptsLeft) }
            return left
        }
        try await mails.publish(first.mail)
        #expect(try await attempts(first.id, second, bearer) == [5, 5, 5])
        try await mails.prove(second)
        try await CodeMails.age(by: 60)
        let (third, proven) = (try await mails.ask(from: 4), try await mails.ask(from: 2).id)
        let another = try await mails.ask(from: 5, .emailChange).id
        try await mails.publish(third.mail)
        #expect(try await attempts(third.id, proven, another, first.id) == [2, 2, 5, 5])
    }

    @Test(.storage) func `requests of bearers take half of the places at most`() async throws {
        let owner = try await mails.ask(from: 100)
        for number in 1...12 { try await mails.ask(from: number, .emailChange) }
        #expect(try await mails.publish(owner.mail).contains(owner.id))
    }

    @Test(.storage) func `a site has as many requests for its first mail as a mail has places`() async throws {
        for number in 1...20 { try await mails.ask(from: number.isMultiple(of: 2) ? 1 : 2) }
        let rows = try await client.query("SELECT count(*) AS n FROM email_verifications GROUP BY site_key")
        #expect(try rows.column("n", as: Int.self) == [CodeMailRules.maxRequests, CodeMailRules.maxRequests])
    }
}
