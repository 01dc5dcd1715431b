import FoundationEssentials
import HeliographCrypto
import PostgresClient
import Push
import TestSupport
import Testing
import WireFormat

@testable import Accounts

struct SealedColumnTests {
    private let old = KeyRing.generateText(id: "k1")
    private let new = KeyRing.generateText(id: "k2")
    private var before: Sealer { get throws { Sealer(keyRing: try KeyRing(parsing: old)) } }
    private var both: Sealer { get throws { Sealer(keyRing: try KeyRing(parsing: "\(new),\(old)")) } }
    private var after: Sealer { get throws { Sealer(keyRing: try KeyRing(parsing: new)) } }
    private var values: SealedValueRepository { SealedValueRepository(client) }

    private func column(_ name: String) throws -> SealedColumn { try #require(SealedColumn.all.first { $0.name == name }) }

    private func cells(of column: SealedColumn) async throws -> [SealedCell] {
        try await values.page(of: column, after: nil, limit: 100, exceptKey: "k2").cells
    }

    /// Seals all values of a column anew, and returns their number.
    private func rotate(_ column: SealedColumn) async throws -> Int {
        var count = 0
        for cell in try await cells(of: column) {
            let resealed = try #require(try cell.resealed(by: both))
            if try await values.replace(cell, of: column, by: resealed) { count += 1 }
        }
        return count
    }

    @Test(.storage) func `every column named sealed is listed with its ring`() async throws {
        let names: [String] = try await client.query(
            """
            SELECT table_name || '.' || column_name AS name FROM information_schema.columns
            WHERE table_schema = 'public' AND column_name LIKE '%\\_sealed' ORDER BY 1
            """
        ).column("name")
        #expect(names.count > 8)
        #expect(Set(names) == Set(SealedColumn.all.map(\.name).filter { $0.hasSuffix("_sealed") }))
    }

    @Test(.storage) func `every listed column can be read and counted`() async throws {
        for column in SealedColumn.all {
            #expect(try await cells(of: column).isEmpty, "\(column.name)")
            #expect(try await values.counts(of: column) == [:], "\(column.name)")
        }
        #expect(try await values.countsInOutbox() == [:])
    }

    @Test(.storage) func `values are sealed anew under their context and counted by key`() async throws {
        let id = UUID()
        let sealed = try before.seal([7], context: SealingContext.email(accountID: id))
        let user = try await client.makeUser(id: id, emailLookup: hash(1), emailSealed: sealed).id
        let name = try before.seal([8], context: SealingContext.displayName(userID: user))
        #expect(try await UserRepository(client).setDisplayName(name, of: user))
        let (emails, names) = (try column("users.email_sealed"), try column("users.display_name_sealed"))
        #expect(try await values.counts(of: emails) == ["k1": 1])
        #expect(try await rotate(emails) == 1)
        #expect(try await rotate(names) == 1)
        #expect(try await values.counts(of: emails) == ["k2": 1])
        #expect(try await rotate(emails) == 0, "a value of the current key is left alone")
        let stored = try #require(try await UserRepository(client).find(id: user))
        #expect(try after.open(try #require(stored.email).sealed, context: SealingContext.email(accountID: user)) == [7])
        #expect(try after.open(try #require(stored.displayNameSealed), context: SealingContext.displayName(userID: user)) == [8])
    }

    @Test(.storage) func `the former e-mail of a change is sealed anew as well`() async throws {
        let account = UUID()
        let context = SealingContext.email(accountID: account)
        let former = SealedEmail(lookup: hash(2), sealed: try before.seal([7], context: context))
        let email = SealedEmail(lookup: hash(1), sealed: try before.seal([8], context: context))
        let new = NewEmailVerification(purpose: .emailChange, accountID: account, email: email)
        let verifications = EmailVerificationRepository(client)
        _ = try await client.withTransaction { try await EmailVerificationRepository($0).insert(new) }
        #expect(try await verifications.find(id: new.id)?.formerEmail == nil)
        _ = try await verifications.verify(id: new.id, replacing: former)
        #expect(try await rotate(column("email_verifications.former_email_sealed")) == 1)
        let stored = try #require(try await verifications.find(id: new.id)?.formerEmail)
        #expect(try after.open(stored.sealed, context: context) == [7])
    }

    @Test(.storage) func `a value that was written meanwhile is not replaced`() async throws {
        let user = try await client.user()
        let context = SealingContext.displayName(userID: user)
        #expect(try await UserRepository(client).setDisplayName(before.seal([1], context: context), of: user))
        let names = try column("users.display_name_sealed")
        let cell = try #require(try await cells(of: names).first)
        let resealed = try #require(try cell.resealed(by: both))
        #expect(try await UserRepository(client).setDisplayName(before.seal([2], context: context), of: user))
        #expect(try await !values.replace(cell, of: names, by: resealed))
        let stored = try #require(try await UserRepository(client).find(id: user)?.displayNameSealed)
        #expect(try before.open(stored, context: context) == [2])
    }

    @Test(.storage) func `pages continue after the last row of the page before`() async throws {
        for seed in 1...5 { _ = try await client.makeUser(emailLookup: hash(seed), emailSealed: try before.seal([1], context: [])) }
        let emails = try column("users.email_sealed")
        var (last, found, pages): (UUID?, Set<UUID>, Int) = (nil, [], 0)
        repeat {
            let page = try await values.page(of: emails, after: last, limit: 2, exceptKey: "k2")
            found.formUnion(page.cells.map(\.id))
            last = page.last
            pages += 1
        } while last != nil
        #expect(found.count == 5 && pages == 3)
    }

    @Test(.storage) func `texts of open notifications are sealed with the new key, and the rest of the content stays`() async throws {
        var open = NewNotification.make()
        let (id, sealer) = (open.id, try before)
        open.content = try .sample(.chatMessage, text: "Ü") { try SealedText(sealing: $0, $1, of: id, with: sealer) }
        #expect(try await notifications.insert(open))
        #expect(try await notifications.insert(.make()), "nothing is sealed in it")
        let content = try column("notifications.content")
        #expect(try await values.counts(of: content) == ["k1": 2])
        #expect(try await rotate(content) == 1)
        #expect(try await values.counts(of: content) == ["k2": 2])
        let stored = try await notifications.find(ids: [id]).first?.content
        guard case .chatMessage(var message) = open.content, case .chatMessage(let resealed) = stored else {
            Issue.record("the content is of another kind")
            return
        }
        #expect(try resealed.text?.opened(of: id, with: after) == "Ü")
        #expect(try resealed.senderName?.opened(of: id, with: after) == "Ü")
        (message.text, message.senderName) = (resealed.text, resealed.senderName)
        #expect(message == resealed)
    }
}
