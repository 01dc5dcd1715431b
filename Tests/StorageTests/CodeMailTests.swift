import FoundationEssentials
import PostgresClient
import TestSupport
import Testing
import WireFormat

@testable import Accounts

/// The slot for the next mail of an address, which all its requests share.
struct CodeMailTests {
    private let mails = CodeMails()

    @Test(.storage) func `a request gets its mail at once, and those after it share the next one`() async throws {
        let first = try await mails.ask()
        #expect(first.mail.isDue)
        #expect(try await mails.publish(first.mail) == [first.id])
        let (second, third) = (try await mails.ask(from: 1), try await mails.ask(from: 2))
        #expect(second.mail.id == third.mail.id && !second.mail.isDue)
        try await CodeMails.age(by: 60)
        #expect(try await mails.ask(from: 3).mail.isDue)
        #expect(try await Set(mails.publish(second.mail)).isSuperset(of: [first.id, second.id, third.id]))
    }

    @Test(.storage) func `a mail is published once`() async throws {
        let first = try await mails.ask()
        #expect(try await client.withTransaction { try await CodeMailRepository($0).publish(first.mail.id) } != nil)
        #expect(try await client.withTransaction { try await CodeMailRepository($0).publish(first.mail.id) } == nil)
        #expect(try await CodeMails.verification(first.id)?.codeNumber == 1)
    }

    @Test(.storage, arguments: [(sites: 1, mails: 55), (sites: 2, mails: 105), (sites: 1_000, mails: 493)])
    func `the mails of an address in a day are limited, and more so those of one site`(sites: Int, mails limit: Int) async throws {
        var (sent, seconds) = (0, 0)
        while true {
            let mail = try await mails.ask(from: sent % sites).mail
            let wait = try await CodeMails.wait(for: mail)
            seconds += wait
            guard seconds < 24 * 60 * 60 else { break }
            try await CodeMails.age(by: wait)
            try await mails.publish(mail)
            sent += 1
        }
        // Real time passes as well.
        #expect((limit - 1...limit).contains(sent))
    }

    @Test(.storage) func `a site that had no mail waits 45 seconds, however many another site had`() async throws {
        for _ in 0..<12 {
            let mail = try await mails.ask(from: 0).mail
            try await CodeMails.age(by: CodeMails.wait(for: mail))
            try await mails.publish(mail)
        }
        let strangers = try await mails.ask(from: 0)
        #expect(try await CodeMails.wait(for: strangers.mail) == 30 * 60)
        let owners = try await mails.ask(from: 1)
        #expect(owners.mail.id == strangers.mail.id)
        #expect(try await CodeMails.wait(for: owners.mail) == 45)
        _ = try await mails.ask(from: 0)
        #expect(try await CodeMails.wait(for: owners.mail) == 45, "another request of the stranger delays nothing")
    }

    @Test(.storage) func `a site that had no mail waits 45 seconds, however many two others caused in a day`() async throws {
        for number in 0..<97 {
            let mail = try await mails.ask(from: number % 2).mail
            try await CodeMails.age(by: CodeMails.wait(for: mail))
            try await mails.publish(mail)
        }
        let strangers = try await mails.ask(from: 0)
        #expect(try await CodeMails.wait(for: strangers.mail) >= 15 * 60)
        #expect(try await CodeMails.wait(for: mails.ask(from: 2).mail) == 45)
    }

    @Test(.storage) func `of the requests that are left out of a mail, the site that may have one first determines the next`() async throws
    {
        for _ in 0..<12 {
            let mail = try await mails.ask(from: 0).mail
            try await CodeMails.age(by: CodeMails.wait(for: mail))
            try await mails.publish(mail)
        }
        // Of twelve requests the third to the sixth are left out, and the newest of these is of the site with many mails.
        var asked: [(id: UUID, mail: CodeMail)] = []
        for number in 1...12 { asked.append(try await mails.ask(from: number == 6 ? 0 : 100 + number)) }
        try await CodeMails.age(by: CodeMails.wait(for: asked[0].mail))
        let mailed = try await mails.publish(asked[0].mail)
        #expect(!mailed.contains(asked[5].id) && !mailed.contains(asked[2].id))
        let waits = try await client.query(
            "SELECT extract(epoch FROM due_at - now())::float8 AS wait FROM code_mails WHERE requested_at IS NULL"
        ).column("wait", as: Double.self)
        #expect(waits.count == 1 && waits[0] <= 45)
    }

    @Test(.storage) func `neighbours without a proof displace each other's waiting requests, and no proven one`() async throws {
        try await mails.prove(mails.ask(from: 1).id)
        let proven = try await mails.ask(from: 1).id
        let site = CodeMails.origin(1).siteKey
        let neighbour = RequestOrigin(addressKey: hash(1), siteKey: site), other = RequestOrigin(addressKey: hash(2), siteKey: site)
        let ofOther = try await mails.ask(at: other).id
        var ofNeighbour: [UUID] = []
        for _ in 0..<CodeMailRules.maxRequests + 1 { ofNeighbour.append(try await mails.ask(at: neighbour).id) }
        func isKept(_ id: UUID) async throws -> Bool { try await CodeMails.verification(id) != nil }
        #expect(try await isKept(proven))
        #expect(try await isKept(ofOther))
        #expect(try await !isKept(ofNeighbour[0]))
        for number in 3..<40 { try await mails.ask(at: RequestOrigin(addressKey: hash(number), siteKey: site)) }
        #expect(try await !isKept(ofOther), "the requests of a site are limited, too")
        #expect(try await isKept(proven))
    }

    @Test(.storage) func `sign-ups of an address displace its waiting ones, with the faces that wait for them`() async throws {
        var sessions: [UUID] = []
        for _ in 0..<CodeMailRules.maxRequests + 2 {
            sessions.append(try await mails.ask(from: 1, .enrolment).id)
            let face = NewFaceTemplate(userID: UUID(), modelID: "m", pipelineVersion: 1, templateSealed: [1])
            try await PendingEnrolmentRepository(client).insert(id: sessions[sessions.count - 1], face: face, photos: [])
        }
        let kept = Set(sessions.dropFirst(2))
        let requests = try await client.query("SELECT id FROM email_verifications").column("id", as: UUID.self)
        let faces = try await client.query("SELECT id FROM pending_enrolments").column("id", as: UUID.self)
        #expect(Set(requests) == kept && Set(faces) == kept)
    }

    @Test(.storage) func `before its mail a request has neither a code nor an attempt`() async throws {
        try await mails.ask(isPublished: true)
        let waiting = try await mails.ask(from: 1).id
        #expect(try await EmailVerificationRepository(client).takeAttempt(id: waiting) == nil)
        let row = try #require(try await CodeMails.verification(waiting))
        #expect(row.codeNumber == 0 && row.attemptsLeft == 0 && row.codeExpiresAt == nil)
    }

    @Test(.storage) func `a code that was mailed keeps its number, its attempts and its end in the next mail`() async throws {
        let first = try await mails.ask()
        try await mails.publish(first.mail)
        _ = try await EmailVerificationRepository(client).takeAttempt(id: first.id)
        try await CodeMails.age(by: 60)
        let before = try #require(try await CodeMails.verification(first.id))
        let second = try await mails.ask(from: 1)
        #expect(try await mails.publish(second.mail) == [second.id, first.id])
        let after = try #require(try await CodeMails.verification(first.id))
        #expect(after.codeNumber == 1 && after.attemptsLeft == before.attemptsLeft && after.codeExpiresAt == before.codeExpiresAt)
    }

    @Test(.storage) func `another code is in the next mail, and until then the one before can be entered`() async throws {
        let first = try await mails.ask()
        try await mails.publish(first.mail)
        #expect(try await mails.askAgain(first.id) == nil, "a minute has to pass")
        try await CodeMails.age(by: 60)
        let next = try #require(try await mails.askAgain(first.id))
        #expect(try await mails.askAgain(first.id) == nil, "it waits already")
        #expect(try await EmailVerificationRepository(client).takeAttempt(id: first.id)?.codeNumber == 1)
        #expect(try await mails.publish(next) == [first.id])
        #expect(try await CodeMails.verification(first.id)?.codeNumber == 2)
    }

    @Test(.storage) func `a mail without an open request is not sent, and does not count`() async throws {
        let first = try await mails.ask()
        try await mails.prove(first.id)
        #expect(try await client.withTransaction { try await CodeMailRepository($0).publish(first.mail.id) } == nil)
        #expect(try await mails.ask(from: 1).mail.isDue)
    }

    @Test(.storage) func `the open requests of an address have references of their own, of four letters`() async throws {
        var references: Set<String> = []
        for number in 0..<20 {
            let id = try await mails.ask(from: number).id
            let reference = try #require(try await CodeMails.verification(id)).reference
            #expect(reference.count == 4 && reference.allSatisfy { CodeReference.alphabet.contains($0) })
            references.insert(reference)
        }
        #expect(references.count == 20)
    }

    @Test(.storage) func `concurrent requests of an address share one mail`() async throws {
        let planned = try await race(8) { try await mails.ask(from: $0).mail.id }
        #expect(Set(planned).count == 1)
    }

    @Test(.storage) func `where a code was entered, or a sign-in was redeemed, or a bearer asks, a request is proven`() async throws {
        let stranger = try await mails.ask(from: 1).id
        let owner = try await mails.ask(from: 2).id
        try await mails.prove(owner)
        let session = NewSession(
            userID: UUID(), event: .signIn, attemptKey: AttemptKey.derive(from: TestLookup.of(hash(1))), tokenHash: hash(1),
            origin: CodeMails.origin(3))
        let signIn = try await sessions.insert(session).id
        #expect(try await sessions.complete(id: signIn, outcome: .succeeded))
        func isProven(_ number: Int, _ purpose: EmailVerification.Purpose = .registration, seed: Int = 1) async throws -> Bool? {
            try await CodeMails.verification(CodeMails(seed: seed).ask(from: number, purpose).id)?.isProven
        }
        #expect(try await CodeMails.verification(stranger)?.isProven == false)
        #expect(try await isProven(1) == false)
        #expect(try await isProven(2) == true)
        #expect(try await isProven(3) == false, "photos of a person prove no mailbox")
        _ = try await client.withTransaction { try await SessionRepository($0).redeem(id: signIn, tokenHash: hash(1)) }
        #expect(try await isProven(3) == true)
        #expect(try await isProven(2, seed: 2) == false, "of another e-mail")
        #expect(try await isProven(1, .emailChange) == true)
    }
}
