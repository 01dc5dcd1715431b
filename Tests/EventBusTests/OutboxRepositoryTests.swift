import FoundationEssentials
import PostgresClient
import TestSupport
import Testing
import WireFormat

@testable import EventBus

struct OutboxRepositoryTests {
    private func message(_ number: Int = 0) throws -> EncodedEnvelope {
        try Envelope(
            EkycRequested(sessionID: UUID(), event: .signIn, lane: .new), traceparent: number.isMultiple(of: 2) ? nil : "00-aa-bb-01",
            requestID: "r\(number)", expiresAt: number.isMultiple(of: 3) ? nil : Date(timeIntervalSinceNow: 60)
        ).encoded()
    }

    private func new(_ envelope: EncodedEnvelope, groups: [String] = ["g"]) -> NewOutboxMessage {
        NewOutboxMessage(envelope, stream: "s", groups: groups)
    }

    private func publish(_ messages: [OutboxMessage], _ outbox: OutboxRepository) async throws {
        try await outbox.markPublished(
            messages.map { OutboxPublication(messageID: $0.envelope.id, entryID: "\($0.id)-0") }, wait: .seconds(1),
            maxWait: .seconds(60))
    }

    @Test func `messages are read back completely and in order`() async throws {
        try await withStorage { client in
            let outbox = OutboxRepository(client)
            let sent = try (0..<20).map { try message($0) }
            try await outbox.append(sent.map { NewOutboxMessage($0, stream: "ekyc.requested", groups: []) })
            let taken = try await outbox.takeBatch(limit: 100)
            #expect(taken.map(\.envelope) == sent)
            #expect(taken.allSatisfy { $0.stream == "ekyc.requested" })
            #expect(taken.map(\.id) == taken.map(\.id).sorted())
            #expect(try await outbox.takeBatch(limit: 3).map(\.envelope) == Array(sent.prefix(3)))
            #expect(try await outbox.backlog().waiting == 20)
            try await publish(taken, outbox)
            #expect(try await outbox.takeBatch(limit: 100).isEmpty)
            #expect(try await outbox.backlog().waiting == 0)
            #expect(try await outbox.backlog().oldestWaitingAt == nil)
        }
    }

    @Test func `concurrent relays take different messages`() async throws {
        try await withStorage { client in
            let sent = try (0..<200).map { try message($0) }
            try await OutboxRepository(client).append(sent.map { new($0) })
            let relayed = try await race(6) { _ in
                var ids: [UUID] = []
                while true {
                    let batch = try await client.withTransaction { transaction in
                        let outbox = OutboxRepository(transaction)
                        let batch = try await outbox.takeBatch(limit: 10)
                        try await publish(batch, outbox)
                        return batch
                    }
                    if batch.isEmpty { return ids }
                    ids += batch.map(\.envelope.id)
                }
            }.flatMap { $0 }
            let rest = try await OutboxRepository(client).takeBatch(limit: 1000).map(\.envelope.id)
            #expect((relayed + rest).sorted() == sent.map(\.id).sorted())
        }
    }

    @Test func `a rolled back message is not stored, a duplicate is refused`() async throws {
        try await withStorage { client in
            struct Regret: Error {}
            let one = try message()
            await #expect(throws: Regret.self) {
                try await client.withTransaction { transaction in
                    try await OutboxRepository(transaction).append(new(one))
                    throw Regret()
                }
            }
            let outbox = OutboxRepository(client)
            #expect(try await outbox.backlog().waiting == 0)
            try await outbox.append(new(one))
            let error = await #expect(throws: PostgresError.self) { try await outbox.append(new(one)) }
            #expect(error?.isUniqueViolation == true)
        }
    }

    /// Returns the notifications that wake a relay of the client from now on.
    private func wakeUps(of client: PostgresClient) async -> PostgresNotifications.AsyncIterator {
        var wakeUps = client.notifications(on: OutboxRepository.channel).makeAsyncIterator()
        #expect(await wakeUps.next()?.kind == .listening)
        return wakeUps
    }

    @Test func `a batch wakes the relay of its own process, and no other`() async throws {
        try await withMigratedDatabase { database in
            try await withClient(of: database) { here in
                try await withClient(of: database) { other in
                    var (wakeUps, otherWakeUps) = (await wakeUps(of: here), await wakeUps(of: other))
                    try await OutboxRepository(here).append((0..<50).map { try new(message($0)) })
                    #expect(await wakeUps.next()?.payload == "")
                    try await other.execute("SELECT pg_notify(\(OutboxRepository.channel), 'the next')")
                    #expect(await otherWakeUps.next()?.payload == "the next")
                }
            }
        }
    }

    @Test func `without a relay in the process, those of other processes are woken once per batch`() async throws {
        try await withMigratedDatabase { database in
            try await withClient(of: database) { other in
                var wakeUps = await wakeUps(of: other)
                try await withClient(of: database) { here in
                    try await OutboxRepository(here).append((0..<50).map { try new(message($0)) })
                    try await here.execute("SELECT pg_notify(\(OutboxRepository.channel), 'the next')")
                }
                #expect(await wakeUps.next()?.payload == "")
                #expect(await wakeUps.next()?.payload == "the next")
            }
        }
    }
}
