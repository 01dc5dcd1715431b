import FoundationEssentials
import PostgresClient
import TestSupport
import Testing

@testable import Accounts

struct PeopleListRepositoryTests {
    @Test(.storage, arguments: PeopleList.allCases)
    func `replacing a list keeps those who stay`(list: PeopleList) async throws {
        let user = try await client.user()
        let (kept, gone, new) = (UUID(), UUID(), UUID())
        for id in [kept, gone] {
            #expect(try await client.withTransaction { try await PeopleListRepository(list, $0).add(id, for: user) })
        }
        try await client.execute("UPDATE \(unescaped: list.table) SET created_at = now() - interval '1 day'")
        try await client.withTransaction { try await PeopleListRepository(list, $0).replace(with: [kept, new], for: user) }
        let people = try await PeopleListRepository(list, client).people(of: user)
        #expect(people.map(\.userID) == [new, kept])
        #expect(try #require(people.last?.createdAt).timeIntervalSinceNow < -3_600)
    }

    @Test(.storage) func `a person on one list is not on the other`() async throws {
        let (user, person) = (try await client.user(), UUID())
        for (list, other) in [(PeopleList.blocks, PeopleList.contacts), (.contacts, .blocks)] {
            #expect(try await client.withTransaction { try await PeopleListRepository(list, $0).add(person, for: user) })
            #expect(try await PeopleListRepository(other, client).people(of: user).isEmpty)
            try await PeopleListRepository(list, client).remove(person, for: user)
        }
    }
}
