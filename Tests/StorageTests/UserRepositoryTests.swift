import Accounts
import FoundationEssentials
import PostgresClient
import TestSupport
import Testing

struct UserRepositoryTests {
    /// A verification whose code was entered.
    private func verified(_ seed: Int, isVerified: Bool = true) async throws -> NewEmailVerification {
        let new = NewEmailVerification(
            purpose: .registration, email: SealedEmail(lookup: hash(seed), sealed: [7]), displayNameSealed: [8])
        try await client.withTransaction { transaction in
            _ = try await EmailVerificationRepository(transaction).insert(new)
            if isVerified { _ = try await EmailVerificationRepository(transaction).verify(id: new.id) }
        }
        return new
    }

    @Test(.storage) func `the account of a proven e-mail has the id, the e-mail and the name of the verification`() async throws {
        let users = UserRepository(client)
        let proof = try await verified(1)
        #expect(try await client.withTransaction { try await UserRepository($0).create(id: proof.accountID, verified: proof.id) })
        let user = try #require(try await users.find(id: proof.accountID))
        #expect(user.email == proof.email && user.displayNameSealed == [8])
        #expect(try await users.find(emailLookup: hash(1)) == user)
        #expect(try await users.find(emailLookup: hash(2)) == nil)
    }

    @Test(.storage) func `an e-mail without proof, and a foreign id, give no account`() async throws {
        let users = UserRepository(client)
        let open = try await verified(1, isVerified: false)
        #expect(try await !users.create(id: open.accountID, verified: open.id))
        let proof = try await verified(2)
        #expect(try await !users.create(id: UUID(), verified: proof.id))
    }

    @Test(.storage) func `of concurrent verifications of one e-mail, one creates the account`() async throws {
        var proofs: [NewEmailVerification] = []
        for _ in 0..<8 { proofs.append(try await verified(3)) }
        let all = proofs
        let created = try await race(8) { number in
            try await client.withTransaction { try await UserRepository($0).create(id: all[number].accountID, verified: all[number].id) }
        }
        #expect(created.filter { $0 }.count == 1)
    }

    @Test(.storage) func `the database refuses a lookup of the wrong length`() async throws {
        let error = await #expect(throws: PostgresError.self) {
            _ = try await client.makeUser(emailLookup: [1, 2])
        }
        #expect(error?.sqlState == "23514")
    }
}
