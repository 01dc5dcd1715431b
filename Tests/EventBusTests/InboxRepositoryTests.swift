import EventBus
import FoundationEssentials
import PostgresClient
import TestSupport
import Testing
import WireFormat

struct InboxRepositoryTests {
    @Test func `a message is new once per group`() async throws {
        try await withStorage { client async throws in
            let inbox = InboxRepository(client)
            let ids = (0..<5).map { _ in UUIDv7.generate() }
            #expect(try await inbox.markHandled(group: "a", ids: Array(ids.prefix(3)) + [ids[0]]) == Set(ids.prefix(3)))
            #expect(try await inbox.markHandled(group: "a", ids: ids) == Set(ids.suffix(2)))
            #expect(try await inbox.markHandled(group: "b", ids: ids) == Set(ids))
            #expect(try await inbox.handled(group: "a", ids: ids + [UUID()]) == Set(ids))
            #expect(try await inbox.handled(group: "c", ids: ids).isEmpty)
            #expect(try await inbox.markHandled(group: "a", ids: []).isEmpty)
        }
    }

    @Test func `concurrent batches with the same messages mark each once`() async throws {
        try await withStorage { client in
            let ids = (0..<100).map { _ in UUIDv7.generate() }
            let fresh = try await race(8) { _ in
                try await client.withTransaction { transaction in
                    try await InboxRepository(transaction).markHandled(group: "g", ids: ids.shuffled())
                }
            }
            #expect(fresh.map(\.count).reduce(0, +) == 100)
            #expect(fresh.reduce(into: Set()) { $0.formUnion($1) } == Set(ids))
        }
    }

    @Test func `a message is new again after its mark was rolled back`() async throws {
        try await withStorage { client async throws in
            struct Crash: Error {}
            let id = UUIDv7.generate()
            await #expect(throws: Crash.self) {
                try await client.withTransaction { transaction in
                    _ = try await InboxRepository(transaction).markHandled(group: "g", ids: [id])
                    throw Crash()
                }
            }
            #expect(try await InboxRepository(client).markHandled(group: "g", ids: [id]) == [id])
        }
    }

    @Test func `old marks of every group are deleted in batches, recent ones are kept`() async throws {
        try await withStorage { client in
            let inbox = InboxRepository(client)
            let old = (0..<10).map { UUIDv7.generate(at: Date(timeIntervalSinceNow: -15 * 86400 - Double($0))) }
            let young = (0..<10).map { _ in UUIDv7.generate() }
            for group in ["a", "b", "c"] { _ = try await inbox.markHandled(group: group, ids: old + young) }
            #expect(try await inbox.deleteOlder(limit: 100) == 0, "created long ago, but handled just now")
            try await client.execute("UPDATE inbox SET handled_at = now() - interval '15 days'")
            #expect(try await inbox.deleteOlder(limit: 12) == 12)
            #expect(try await inbox.deleteOlder(limit: 100) == 18)
            #expect(try await inbox.deleteOlder(limit: 100) == 0)
            for group in ["a", "b", "c"] {
                #expect(try await inbox.handled(group: group, ids: old + young) == Set(young))
            }
        }
    }
}
