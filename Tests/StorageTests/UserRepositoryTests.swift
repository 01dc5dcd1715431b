import FoundationEssentials
import PostgresClient
import Storage
import TestSupport
import Testing

struct UserRepositoryTests {
    @Test(.storage) func `the first call creates a user, the second finds it`() async throws {
        let users = UserRepository(client)
        let wanted = UUID()
        let made = try await users.findOrCreate(id: wanted, emailLookup: hash(1), emailSealed: [7])
        let found = try await users.findOrCreate(emailLookup: hash(1), emailSealed: [8])
        #expect(made.id == wanted)
        #expect(made == found)
        #expect(try await users.find(id: wanted) == made)
        #expect(try await users.find(emailLookup: hash(1)) == made)
        #expect(try await users.find(emailLookup: hash(2)) == nil)
    }

    @Test(.storage) func `concurrent callers with one e-mail get one user`() async throws {
        let users = UserRepository(client)
        let made = try await race(24) { _ in
            try await users.findOrCreate(emailLookup: hash(3), emailSealed: [1]).id
        }
        #expect(Set(made).count == 1)
    }

    @Test(.storage) func `the database refuses a lookup key of the wrong length`() async throws {
        let error = await #expect(throws: PostgresError.self) {
            _ = try await UserRepository(client).findOrCreate(emailLookup: [1, 2], emailSealed: [])
        }
        #expect(error?.sqlState == "23514")
    }
}
