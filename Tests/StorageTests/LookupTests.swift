import Accounts
import FoundationEssentials
import HeliographCrypto
import PostgresClient
import TestSupport
import Testing
import WireFormat

/// Tests two keys of lookups at once.
struct LookupTests {
    private let old = KeyRing.generateText(id: "k1")
    private let new = KeyRing.generateText(id: "k2")
    private let sealer = Result { Sealer(keyRing: try KeyRing(parsing: KeyRing.generateText())) }
    private let ada = EmailAddress("ada@example.org")
    private var lookups: LookupRepository { LookupRepository(client) }

    private func keys(_ rings: String...) throws -> LookupKeys { LookupKeys(try KeyRing(parsing: rings.joined(separator: ","))) }

    private func email(of account: UUID, under keys: LookupKeys) throws -> SealedEmail {
        let address = try #require(ada)
        let sealed = try sealer.get().seal(Array(address.normalised.utf8), context: SealingContext.email(accountID: account))
        return SealedEmail(lookups: address.lookups(under: keys), sealed: sealed)
    }

    /// A proof of the e-mail, written by a service with some keys.
    private func proof(under keys: LookupKeys, _ purpose: EmailVerification.Purpose = .registration) async throws -> NewEmailVerification {
        let account = UUID()
        let new = NewEmailVerification(purpose: purpose, accountID: account, email: try email(of: account, under: keys))
        try await client.withTransaction { transaction in
            _ = try await EmailVerificationRepository(transaction).insert(new)
            _ = try await EmailVerificationRepository(transaction).verify(id: new.id)
        }
        return new
    }

    private func create(_ proof: NewEmailVerification) async throws -> Bool {
        try await client.withTransaction { try await UserRepository($0).create(id: proof.accountID, verified: proof.id) }
    }

    /// Gives all rows of a source lookups under the first key, and returns the number of rows.
    private func rotate(_ source: LookupSource, to keys: LookupKeys) async throws -> Int {
        var count = 0
        for owner in try await lookups.page(of: source, after: nil, limit: 100).owners where !owner.has(keyID: keys.ids[0]) {
            if try await lookups.add(owner.lookups(under: keys, openedBy: sealer.get()), to: owner) { count += 1 }
        }
        return count
    }

    @Test func `the lookups of an e-mail are those of accounts that exist`() throws {
        let (address, keys) = (try #require(ada), try keys(new, old))
        #expect(address.lookups(under: keys) == keys.lookups(of: "email:ada@example.org"))
    }

    @Test(.storage) func `an e-mail has one account, whichever key its proof was written with`() async throws {
        let steps = [try keys(old), try keys(old, new), try keys(new, old), try keys(new)]
        for (first, second) in zip(steps, steps.dropFirst()) {
            for (earlier, later) in [(first, second), (second, first)] {
                try await client.execute("DELETE FROM users")
                let proofs = [try await proof(under: earlier), try await proof(under: later)]
                #expect(try await create(proofs[0]))
                #expect(try await !create(proofs[1]))
                let address = try #require(ada)
                for keys in [first, second] {
                    let found = try await UserRepository(client).find(emailLookups: address.lookups(under: keys))
                    #expect(found?.id == proofs[0].accountID)
                }
            }
        }
    }

    @Test(.storage) func `of concurrent proofs under different keys, one creates the account`() async throws {
        var proofs: [NewEmailVerification] = []
        for number in 0..<8 { proofs.append(try await proof(under: number % 2 == 0 ? keys(old) : keys(new, old))) }
        let all = proofs
        #expect(try await race(8) { try await create(all[$0]) }.count { $0 } == 1)
    }

    @Test(.storage) func `an address that has an account under the other key is refused to a change`() async throws {
        #expect(try await create(try await proof(under: keys(old))))
        let other = try await client.user(2)
        let email = try email(of: other, under: keys(new, old))
        let error = await #expect(throws: PostgresError.self) {
            try await client.withTransaction { _ = try await UserRepository($0).setEmail(email, of: other) }
        }
        #expect(error?.sqlState == "23505")
    }

    @Test(.storage) func `an account gets the lookups that it lacks, and an unknown e-mail none`() async throws {
        let address = try #require(ada)
        func add() async throws {
            try await client.withTransaction { try await UserRepository($0).add(emailLookups: address.lookups(under: keys(new, old))) }
        }
        try await add()
        #expect(try await client.query("SELECT FROM email_lookups").isEmpty)
        let made = try await proof(under: keys(old))
        #expect(try await create(made))
        for _ in 1...2 { try await add() }
        #expect(try await client.query("SELECT FROM email_lookups").count == 2)
        #expect(try await UserRepository(client).find(emailLookups: address.lookups(under: keys(new)))?.id == made.accountID)
    }

    @Test(.storage) func `mails to an address are counted over both keys`() async throws {
        func mail(under keys: LookupKeys) async throws -> PublishedCodeMail? {
            let account = UUID()
            let new = NewEmailVerification(purpose: .registration, accountID: account, email: try email(of: account, under: keys))
            return try await client.withTransaction { transaction in
                let mail = try await EmailVerificationRepository(transaction).insert(new)
                guard mail.isDue else { return nil }
                return try await CodeMailRepository(transaction).publish(mail.id)
            }
        }
        #expect(try await mail(under: keys(old)) != nil)
        #expect(try await mail(under: keys(new, old)) == nil)
    }

    @Test(.storage) func `an erasure finds what was written under either key`() async throws {
        let made = try await proof(under: keys(new, old))
        #expect(try await create(made))
        let others = [try await proof(under: keys(old)), try await proof(under: keys(new)), try await proof(under: keys(new, old))]
        let erasure = try await client.beginErasure(of: made.accountID)
        for other in others { #expect(try await EmailVerificationRepository(client).find(id: other.id) == nil) }
        #expect(Set(erasure.attemptKeys) == Set(made.email.lookups.map(AttemptKey.derive(from:))))
        #expect(try await client.query("SELECT FROM email_lookups").isEmpty)
    }

    @Test(.storage) func `every source is rotated, and then the new key alone finds everything`() async throws {
        let made = try await proof(under: keys(old))
        #expect(try await create(made))
        let change = try await proof(under: keys(old), .emailChange)
        _ = try await EmailVerificationRepository(client).verify(id: change.id, replacing: email(of: change.accountID, under: keys(old)))
        let session = UUID()
        _ = try await sessions.insert(
            NewSession(userID: session, event: .signUp, email: email(of: session, under: keys(old)), tokenHash: hash(1)))
        #expect(try await lookups.counts(first: "k1") == ["k1": 5])
        #expect(try await lookups.counts(first: "k2") == ["k1": 5])
        var counts: [LookupSource: Int] = [:]
        for source in LookupSource.allCases { counts[source] = try await rotate(source, to: keys(new, old)) }
        #expect(counts == [.sessions: 1, .verifications: 2, .formerEmails: 1, .emails: 1, .subjects: 0])
        #expect(try await lookups.counts(first: "k2") == ["k2": 5])
        let found = try #require(ada).lookups(under: keys(new))
        #expect(try await client.query("SELECT FROM code_mails WHERE email_lookups @> \(found)").count == 1, "with its verifications")
        for source in LookupSource.allCases { #expect(try await rotate(source, to: keys(new, old)) == 0) }
        let address = try #require(ada)
        #expect(try await UserRepository(client).find(emailLookups: address.lookups(under: keys(new)))?.id == made.accountID)
        #expect(try await !create(try await proof(under: keys(new))))
    }

    @Test(.storage) func `lookups of an account are deleted with the photos that are remembered under them`() async throws {
        let made = try await proof(under: keys(old))
        #expect(try await create(made))
        let photos = FacePhotoHashRepository(client)
        let photo = PhotoFingerprint(
            userID: AttemptKey.derive(from: made.email.lookups[0]), fileHash: hash(1), pixelHash: nil, signature: nil)
        try await photos.add([photo], accepted: false, series: UUID())
        #expect(try await rotate(.emails, to: keys(new, old)) == 1)
        let owner = try #require(try await lookups.page(of: .emails, after: nil, limit: 10).owners.first)
        #expect(owner.lookups(except: ["k2", "k1"]).isEmpty)
        #expect(owner.lookups(except: ["k2"]) == made.email.lookups)
        #expect(try await photos.containsAny(of: [photo], maxDistance: 0, isTrusted: false, series: UUID()))
        #expect(try await lookups.delete(made.email.lookups, of: owner) == 1)
        #expect(try await !photos.containsAny(of: [photo], maxDistance: 0, isTrusted: false, series: UUID()))
        #expect(try await lookups.delete(made.email.lookups, of: owner) == 0)
        #expect(try await lookups.counts(first: nil).keys.sorted() == ["k1", "k2"], "the verification still has the old one")
    }

    @Test(.storage) func `a proof keeps its lookups when it gets those of a ring that the services do not have`() async throws {
        let made = try await proof(under: keys(old))
        #expect(try await rotate(.verifications, to: keys(new)) == 1)
        #expect(try await create(made))
        let address = try #require(ada)
        for keys in [try keys(old), try keys(new)] {
            #expect(try await UserRepository(client).find(emailLookups: address.lookups(under: keys))?.id == made.accountID)
        }
    }

    @Test(.storage) func `a row that was changed meanwhile gets nothing`() async throws {
        let made = try await proof(under: keys(old))
        #expect(try await create(made))
        let owner = try #require(try await lookups.page(of: .emails, after: nil, limit: 10).owners.first)
        let new = try email(of: made.accountID, under: keys(old))
        #expect(try await client.withTransaction { try await UserRepository($0).setEmail(new, of: made.accountID) })
        #expect(try await !lookups.add(owner.lookups(under: keys(self.new, old), openedBy: sealer.get()), to: owner))
    }

    @Test(.storage) func `a user of an identity provider gets a row for the new key, with what was revoked`() async throws {
        let subject = FederatedSubject("ada", of: FederatedSubject.firebaseIssuer(ofProject: "heliograph-dev"))
        let identities = FederatedIdentityRepository(client)
        let id = UUID()
        let sealed = try sealer.get().seal(Array(subject.subject.utf8), context: SealingContext.subject(userID: id))
        _ = try await identities.findOrCreate(
            issuer: subject.issuer, subjectLookups: subject.lookups(under: keys(old)), newID: id, subjectSealed: sealed, signedInAt: Date())
        #expect(try await identities.revokeAll(userID: id))
        #expect(try await rotate(.subjects, to: keys(new, old)) == 1)
        let owner = try #require(try await lookups.page(of: .subjects, after: nil, limit: 10).owners.first)
        #expect(try await lookups.delete(owner.lookups(except: ["k2"]), of: owner) == 1)
        let found = try await identities.find(
            issuer: subject.issuer, subjectLookups: subject.lookups(under: keys(new)), installationKey: nil)
        #expect(found?.userID == id && found?.validAfter != nil)
        _ = try await client.beginErasure(of: id)
        #expect(try await lookups.counts(first: "k2") == ["k2": 1], "the erased person")
        try await client.execute("UPDATE erased_identities SET erased_at = now() - interval '181 days'")
        #expect(try await identities.deleteExpiredErased(limit: 10) == 1)
    }
}
