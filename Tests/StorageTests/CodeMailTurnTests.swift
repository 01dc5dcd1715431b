import FoundationEssentials
import PostgresClient
import TestSupport
import Testing

@testable import Accounts

/// The total of mails over all addresses, and whose turn it is.
struct CodeMailTurnTests {
    /// Six in ten seconds.
    private static let perMinute = 36

    private func admits(_ mail: CodeMail) async throws -> Bool {
        try await client.withTransaction { try await CodeMailRepository($0).admits(mail, perMinute: Self.perMinute) }
    }

    /// Publishes what is due; returns the addresses of the mails in their order.
    private func publishDue() async throws -> (mails: [UUID], isHeldBack: Bool) {
        try await client.withTransaction { transaction in
            let mails = CodeMailRepository(transaction)
            let due = try await mails.takeDue(perMinute: Self.perMinute, limit: 100)
            for id in due.ids { _ = try await mails.publish(id) }
            return (due.ids, due.isHeldBack)
        }
    }

    /// Asks for codes of made-up addresses from one site each, as a flood.
    private func flood(_ count: Int, sites: Int, first: Int = 1_000) async throws {
        for number in 0..<count { try await CodeMails(seed: first + number).ask(from: 1 + number % sites) }
    }

    @Test(.storage) func `mails are published at once until their total is reached, and then they wait`() async throws {
        for number in 0..<6 {
            let mail = try await CodeMails(seed: number).ask(from: number).mail
            #expect(try await admits(mail))
            try await CodeMails(seed: number).publish(mail)
        }
        let next = try await CodeMails(seed: 7).ask(from: 7)
        #expect(try await !admits(next.mail))
        let held = try await publishDue()
        #expect(held.mails.isEmpty && held.isHeldBack)
        try await CodeMails.age(by: 10)
        let due = try await publishDue()
        #expect(due.mails == [next.mail.id] && !due.isHeldBack)
    }

    @Test(.storage) func `a site is backlogged while 20 of its mails are due and wait`() async throws {
        func isBacklogged(_ number: Int) async throws -> Bool {
            try await CodeMailRepository(client).isBacklogged(CodeMails.origin(number).siteKey)
        }
        try await flood(39, sites: 2)
        #expect(try await isBacklogged(1))
        #expect(try await !isBacklogged(2))
        _ = try await publishDue()
        #expect(try await !isBacklogged(1))
    }

    @Test(.storage) func `no mail passes those that wait, but a proven one`() async throws {
        try await flood(1, sites: 1)
        #expect(try await !admits(CodeMails(seed: 1).ask(from: 100).mail))
        #expect(try await admits(CodeMails(seed: 2).ask(from: 100, .emailChange).mail))
    }

    @Test(.storage) func `a proven mail passes none after three of its site`() async throws {
        for number in 1...3 { try await CodeMails(seed: number).ask(from: 100, isPublished: true) }
        try await flood(1, sites: 1)
        #expect(try await !admits(CodeMails(seed: 4).ask(from: 100, .emailChange).mail))
    }

    @Test(.storage) func `a flood of proven requests from ten sites delays the mail of another site by less than ten seconds`() async throws
    {
        for number in 0..<60 { try await CodeMails(seed: 1_000 + number).ask(from: 1 + number % 10, .emailChange) }
        #expect(try await publishDue().mails.count == 6)
        let honest = try await CodeMails(seed: 1).ask(from: 100).mail
        try await CodeMails.age(by: 10)
        #expect(try await publishDue().mails.contains(honest.id))
    }

    @Test(.storage) func `a flood from ten sites delays the mail of another site by less than ten seconds`() async throws {
        try await flood(60, sites: 10)
        #expect(try await publishDue().mails.count == 6)
        try await CodeMails.age(by: 5)
        try await flood(20, sites: 10, first: 2_000)
        let honest = try await CodeMails(seed: 1).ask(from: 100).mail
        #expect(try await publishDue().mails.isEmpty)
        try await CodeMails.age(by: 5)
        let turn = try await publishDue().mails
        #expect(turn.count == 6 && turn.contains(honest.id))
    }

    @Test(.storage) func `a proven request comes first, then the site with the fewest mails`() async throws {
        try await flood(8, sites: 1)
        let other = try await CodeMails(seed: 1).ask(from: 100).mail
        let proven = try await CodeMails(seed: 2).ask(from: 1, .emailChange).mail
        let turn = try await publishDue().mails
        #expect(turn.count == 6 && turn.first == proven.id && turn.prefix(3).contains(other.id))
    }

    @Test(.storage) func `the owner's request gives the mail of a flooding site its own turn`() async throws {
        try await flood(6, sites: 1)
        _ = try await publishDue()
        try await CodeMails.age(by: 10)
        try await flood(20, sites: 1, first: 3_000)
        let planned = try await CodeMails(seed: 1).ask(from: 1).mail
        #expect(try await CodeMails(seed: 1).ask(from: 100).mail.id == planned.id)
        #expect(try await publishDue().mails.first == planned.id)
    }

    @Test(.storage) func `without a limit everything that is due is published`() async throws {
        try await flood(20, sites: 1)
        let due = try await client.withTransaction { try await CodeMailRepository($0).takeDue(perMinute: 0, limit: 100) }
        #expect(due.ids.count == 20 && !due.isHeldBack)
    }

    @Test(.storage) func `two instances do not take a mail at the same time`() async throws {
        try await flood(6, sites: 6)
        let taken = try await race(4) { _ in try await publishDue().mails }
        #expect(taken.joined().count == 6 && Set(taken.joined()).count == 6)
        #expect(try await client.query("SELECT FROM code_mails WHERE requested_at IS NOT NULL").count == 6)
    }

    @Test(.storage) func `a mail whose address is being changed has its turn later`() async throws {
        try await flood(2, sites: 2)
        try await client.withTransaction { transaction in
            try await CodeMailRepository(transaction).lock([TestLookup.of(hash(1_000))])
            #expect(try await publishDue().mails.count == 1)
        }
        #expect(try await publishDue().mails.count == 1)
    }
}
