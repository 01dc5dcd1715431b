import EventBus
import FoundationEssentials
import PostgresClient
import Schema
import TestSupport
import Testing
import WireFormat

/// The bus is the same code in every service, and needs the same of each role: also what only a lost or refused message needs.
struct OutboxRoleTests {
    @Test(arguments: ServiceRole.allCases) func `every service publishes, defers and publishes again with its role`(
        role: ServiceRole
    ) async throws {
        try await withStorage(as: role) { owner, service in
            let outbox = OutboxRepository(service)
            let envelopes = try (0..<3).map { _ in
                try Envelope(EkycRequested(sessionID: UUID(), event: .signIn, lane: .new), id: UUIDv7.generate()).encoded()
            }
            try await outbox.append(envelopes.map { NewOutboxMessage($0, stream: "s", groups: ["g"]) })
            #expect(try await service.withTransaction { try await OutboxRepository($0).takeBatch(limit: 9) }.count == 3)
            let ids = envelopes.map(\.id)
            try await outbox.postpone([ids[0]])
            let published = OutboxPublication(messageID: ids[1], entryID: "1-0")
            try await outbox.markPublished([published], wait: .zero, maxWait: .zero)
            #expect(try await outbox.publishAgain([published]).waiting == 1)
            try await outbox.markPublished([published], wait: .zero, maxWait: .zero)
            _ = try await outbox.checkPublished(limit: 9, recheck: .zero)
            let group = StreamGroup(stream: "s", name: "g")
            let letter = NewDeadLetter(
                entryID: EntryID(milliseconds: 1, sequence: 0), messageID: ids[2], fields: [], reason: .failures, error: "", failures: 1,
                crashes: 0)
            #expect(
                try await service.withTransaction { try await DeadLetterRepository($0).add([letter], of: group, by: "c") } == 1)
            #expect(try await DeadLetterRepository(service).backlogs(of: [group])[group]?.count == 1)
            #expect(try await DeadLetterRepository(service).deleteOlder(than: .zero, of: group, limit: 9) == 1)
            let states = try await owner.query("SELECT state FROM outbox ORDER BY id").column("state", as: String.self)
            #expect(states == ["waiting", "published", "waiting"])
            #expect(try await InboxRepository(service).markHandled(group: "g", ids: [ids[1]]) == [ids[1]])
            #expect(try await InboxRepository(service).handled(group: "g", ids: ids) == [ids[1], ids[2]])
        }
    }
}
