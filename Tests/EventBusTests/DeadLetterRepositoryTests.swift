import Foundation
import PostgresClient
import Schema
import TestSupport
import Testing
import WireFormat

@testable import EventBus

/// The dead letters in a database, without any stream.
struct DeadLetterRepositoryTests {
    /// Makes the dead letter of a message.
    private func letter(
        _ number: Int = 1, id: UUID = UUIDv7.generate(), reason: DeadLetterReason = .failures, error: String = "refused"
    ) throws -> NewDeadLetter {
        let fields = try message(number, id: id).fields
        return NewDeadLetter(
            entryID: EntryID(milliseconds: 17, sequence: UInt64(number)), messageID: id, fields: fields, reason: reason, error: error,
            failures: 16, crashes: 1)
    }

    private static let bytes = NewDeadLetter(
        entryID: EntryID(milliseconds: 1_763_731_805_123, sequence: 7), messageID: nil,
        fields: [(name: "n", value: [0xFF, 0x00, 0xFE]), (name: "", value: [])], reason: .unreadable, error: "no\0envelope", failures: 0,
        crashes: 0)

    private func add(_ letters: [NewDeadLetter], of name: String = "g", in client: PostgresClient) async throws -> Int {
        try await client.withTransaction { try await DeadLetterRepository($0).add(letters, of: group(name), by: "c") }
    }

    private func redrive(_ ids: [UUID], of name: String = "g", in client: PostgresClient) async throws -> Redriven {
        try await client.withTransaction { try await DeadLetterRepository($0).redrive(ids, of: group(name)) }
    }

    private func letters(of name: String = "g", in client: PostgresClient) async throws -> [DeadLetter] {
        try await DeadLetterRepository(client).page(of: group(name), limit: 1000)
    }

    /// Returns the messages that wait for the relay, with the groups they are limited to.
    private func waiting(in client: PostgresClient) async throws -> [UUID: [String]?] {
        let messages = try await OutboxRepository(client).takeBatch(limit: 1000)
        return Dictionary(uniqueKeysWithValues: messages.map { ($0.envelope.id, $0.onlyGroups) })
    }

    // MARK: Giving up

    @Test func `a message that is given up several times is one dead letter, with everything that is known about it`() async throws {
        try await withStorage { client in
            let new = try letter(7, error: "é \u{1F600}")
            #expect(try await add([new, new], in: client) == 1)
            #expect(try await add([new], in: client) == 0)
            #expect(try await add([new], of: "other", in: client) == 1, "another group has dead letters of its own")
            let kept = try #require(try await letters(in: client).first)
            #expect((kept.id, kept.group, kept.entryID) == (new.messageID, group("g"), "17-7"))
            #expect((kept.reason, kept.error, kept.failures, kept.crashes, kept.consumer) == (.failures, "é \u{1F600}", 16, 1, "c"))
            #expect(kept.envelope?.streamFields.map(\.value) == new.fields.map(\.value))
            #expect(abs(kept.deadLetteredAt.timeIntervalSinceNow) < 60)
        }
    }

    @Test func `bytes that are no message are kept as they are, once for each entry`() async throws {
        try await withStorage { client in
            #expect(try await add([Self.bytes], in: client) == 1)
            #expect(try await add([Self.bytes], in: client) == 0)
            let kept = try #require(try await letters(in: client).first)
            #expect(kept.fields.map(\.name) == ["n", ""] && kept.fields.map(\.value) == [[0xFF, 0x00, 0xFE], []])
            #expect(kept.error == "no\u{FFFD}envelope" && kept.envelope == nil)
            #expect(UUIDv7.timestamp(of: kept.id) == Date(millisecondsSince1970: 1_763_731_805_123))
        }
    }

    @Test func `an entry without an id has another id than its neighbours`() {
        let ids = [(5, 0), (5, 1), (5, 1 << 61), (6, 0)].map { EntryID(milliseconds: $0, sequence: UInt64($1)).asUUID }
        #expect(Set(ids).count == 4)
        #expect(ids.map(\.uuidString) == ids.map(\.uuidString).sorted())
    }

    @Test func `a message that was handled does not become a dead letter`() async throws {
        try await withStorage { client in
            let new = try letter()
            _ = try await InboxRepository(client).markHandled(group: "g", ids: [new.id])
            #expect(try await add([new], in: client) == 0)
            #expect(try await letters(in: client).isEmpty)
        }
    }

    @Test func `of a handler and a consumer that gives its message up at the same time, one wins`() async throws {
        try await withStorage { client in
            let all = try (0..<40).map { try letter($0) }
            let handled = try await withThrowingTaskGroup(of: Set<UUID>.self) { tasks in
                tasks.addTask {
                    for letter in all { _ = try await add([letter], in: client) }
                    return []
                }
                tasks.addTask {
                    var handled: Set<UUID> = []
                    for letter in all.reversed() {
                        handled.formUnion(try await InboxRepository(client).markHandled(group: "g", ids: [letter.id]))
                    }
                    return handled
                }
                return try await tasks.reduce(into: Set<UUID>()) { $0.formUnion($1) }
            }
            let dead = Set(try await letters(in: client).map(\.id))
            #expect(dead.isDisjoint(with: handled))
            #expect(dead.union(handled) == Set(all.map(\.id)))
        }
    }

    @Test func `the outbox confirms a message that one group has handled and another has given up`() async throws {
        try await withStorage { client in
            let (outbox, new) = (OutboxRepository(client), try letter())
            let envelope = try EncodedEnvelope(streamFields: new.fields)
            try await outbox.append(NewOutboxMessage(envelope, stream: testStream, groups: ["a", "b"]))
            try await outbox.markPublished([OutboxPublication(messageID: new.id, entryID: "1-1")], wait: .zero, maxWait: .zero)
            _ = try await add([new], of: "a", in: client)
            let check = try await outbox.checkPublished(limit: 10, recheck: .zero)
            #expect(check.overdue.map(\.missingGroups) == [["b"]], "the other group still needs it")
            _ = try await InboxRepository(client).markHandled(group: "b", ids: [new.id])
            #expect(try await outbox.checkPublished(limit: 10, recheck: .zero).confirmed == 1)
        }
    }

    // MARK: Reading

    @Test func `pages go through dead letters of the same moment, the oldest first`() async throws {
        try await withStorage { client in
            let old = try letter()
            _ = try await add([old], in: client)
            let others = try (0..<9).map { try letter($0) }
            _ = try await add(others, in: client)
            _ = try await add([try letter()], of: "h", in: client)
            var (found, last): ([UUID], DeadLetter?) = ([], nil)
            repeat {
                let page = try await DeadLetterRepository(client).page(of: group("g"), after: last, limit: 4)
                found += page.map(\.id)
                last = page.count == 4 ? page.last : nil
            } while last != nil
            #expect(found.first == old.id)
            #expect(Set(found) == Set([old.id] + others.map(\.id)) && found.count == 10)
        }
    }

    @Test func `a message is found in all groups that gave it up`() async throws {
        try await withStorage { client in
            let new = try letter()
            for name in ["b", "a"] { _ = try await add([new], of: name, in: client) }
            #expect(try await DeadLetterRepository(client).find(new.id, in: testStream).map(\.group.name) == ["a", "b"])
            #expect(try await DeadLetterRepository(client).find(new.id, in: "other").isEmpty)
        }
    }

    @Test func `groups are counted, with the age of their oldest dead letter`() async throws {
        try await withStorage { client in
            _ = try await add([try letter(), try letter()], in: client)
            try await client.execute("UPDATE dead_letters SET dead_lettered_at = '2026-01-02' WHERE ctid = '(0,1)'")
            let backlogs = try await DeadLetterRepository(client).backlogs(of: [group("g"), group("none")])
            #expect(backlogs.keys.map(\.name) == ["g"])
            #expect(backlogs[group("g")]?.count == 2)
            #expect(backlogs[group("g")]?.oldestAt.map { $0 < Date(timeIntervalSince1970: 1_770_000_000) } == true)
        }
    }

    // MARK: Retention

    @Test func `dead letters of a group are deleted at an age, in batches`() async throws {
        try await withStorage { client in
            let old = try (0..<5).map { try letter($0) }
            _ = try await add(old, in: client)
            _ = try await add(old, of: "h", in: client)
            try await client.execute("UPDATE dead_letters SET dead_lettered_at = now() - interval '30 days'")
            let fresh = try letter(id: UUIDv7.generate(at: Date(timeIntervalSince1970: 0)))
            _ = try await add([fresh], in: client)
            func delete(_ limit: Int) async throws -> Int {
                try await DeadLetterRepository(client).deleteOlder(than: .seconds(30 * 86_400 - 60), of: group("g"), limit: limit)
            }
            #expect(try await delete(3) == 3)
            #expect(try await delete(3) == 2)
            #expect(try await delete(3) == 0)
            #expect(try await letters(in: client).map(\.id) == [fresh.id], "the time counts when it was given up, not its id")
            #expect(try await letters(of: "h", in: client).count == 5)
            #expect(try await PostgresDeadLetters(postgres: client).deleteOlder(than: .seconds(60), of: group("h")) == 5)
        }
    }

    @Test func `deleting old dead letters reads no others`() async throws {
        try await withStorage { client in
            for number in 0..<20 {
                _ = try await add(try (0..<100).map { try letter($0) }, of: number < 10 ? "g" : "h", in: client)
            }
            try await client.execute("UPDATE dead_letters SET dead_lettered_at = '2026-01-02' WHERE ctid IN ('(0,1)', '(0,2)')")
            try await client.execute("VACUUM ANALYZE dead_letters")
            try await client.withTransaction { transaction in
                let before = try await transaction.rowsRead(in: "dead_letters")
                #expect(
                    try await DeadLetterRepository(transaction).deleteOlder(than: .seconds(86_400), of: group("g"), limit: 500) == 2)
                #expect(try await transaction.rowsRead(in: "dead_letters") - before <= 8)
            }
        }
    }

    @Test(arguments: ServiceRole.allCases)
    func `every service gives up, counts and deletes, and redrives nothing`(role: ServiceRole) async throws {
        try await withStorage(as: role) { owner, service in
            let store = PostgresDeadLetters(postgres: service)
            let letters = [try letter(), Self.bytes]
            #expect(try await store.add(letters, of: group("g"), by: "c") == 2)
            #expect(try await store.add(letters, of: group("g"), by: "c") == 0)
            #expect(try await store.backlog(of: group("g")).count == 2)
            try await owner.execute("UPDATE dead_letters SET dead_lettered_at = '2026-01-02'")
            await #expect(throws: PostgresError.self) { try await redrive(letters.map(\.id), in: service) }
            #expect(try await store.deleteOlder(than: .seconds(60), of: group("g")) == 2)
        }
    }

    @Test func `the error for a dead letter that the database refuses differs from that for a database that is away`() async throws {
        try await withStorage { client in
            let store = PostgresDeadLetters(postgres: client)
            func code(_ consumer: String) async -> EventBusError.Code? {
                do {
                    _ = try await store.add([try letter()], of: group("g"), by: consumer)
                    return nil
                } catch { return (error as? EventBusError)?.code }
            }
            #expect(await code("a\0b") == .refused)
            try await client.execute("ALTER TABLE dead_letters RENAME TO gone")
            #expect(await code("c") == .unavailable)
        }
    }

    // MARK: Redriving

    @Test func `redriven messages are published to their group alone, each once by however many operators`() async throws {
        try await withStorage { client in
            let all = try (0..<60).map { try letter($0) }
            _ = try await add(all, in: client)
            let counts = try await withThrowingTaskGroup(of: Int.self) { tasks in
                for number in 0..<4 {
                    let ids = all.map(\.id)
                    tasks.addTask { try await redrive(number.isMultiple(of: 2) ? ids : ids.reversed(), in: client).ids.count }
                }
                return try await tasks.reduce(into: [Int]()) { $0.append($1) }
            }
            #expect(counts.sorted() == [0, 0, 0, 60])
            #expect(try await waiting(in: client) == Dictionary(uniqueKeysWithValues: all.map { ($0.id, ["g"]) }))
            #expect(try await client.count("inbox") == 0)
            #expect(try await client.count("dead_letters") == 0)
        }
    }

    @Test func `a transaction that fails redrives nothing`() async throws {
        try await withStorage { client in
            let new = try letter()
            _ = try await add([new], in: client)
            await #expect(throws: TestFailure.self) {
                try await client.withTransaction { transaction in
                    _ = try await DeadLetterRepository(transaction).redrive([new.id], of: group("g"))
                    throw TestFailure()
                }
            }
            #expect(try await letters(in: client).map(\.id) == [new.id])
            #expect(try await client.count("outbox") == 0)
            #expect(try await client.count("inbox") == 1)
        }
    }

    @Test func `what is no message is not redriven, and what is dropped is never handled`() async throws {
        try await withStorage { client in
            let new = try letter()
            _ = try await add([new, Self.bytes], in: client)
            #expect(try await DeadLetterRepository(client).drop([new.id], of: group("g")) == 1)
            let redriven = try await redrive([new.id, Self.bytes.id], in: client)
            #expect(redriven.ids.isEmpty && redriven.unreadable == [Self.bytes.id])
            #expect(try await letters(in: client).map(\.id) == [Self.bytes.id])
            #expect(try await client.count("outbox") == 0)
            #expect(try await InboxRepository(client).markHandled(group: "g", ids: [new.id]).isEmpty)
        }
    }

    @Test func `a message that other groups still need goes to all of them, a settled one to its group alone`() async throws {
        try await withStorage { client in
            let (outbox, open, settled) = (OutboxRepository(client), try letter(1), try letter(2))
            for letter in [open, settled] {
                let envelope = try EncodedEnvelope(streamFields: letter.fields)
                try await outbox.append(NewOutboxMessage(envelope, stream: testStream, groups: ["a", "b"]))
            }
            try await outbox.markPublished(
                [open, settled].map { OutboxPublication(messageID: $0.id, entryID: "1-1") }, wait: .zero, maxWait: .zero)
            _ = try await add([open, settled], of: "a", in: client)
            _ = try await InboxRepository(client).markHandled(group: "b", ids: [settled.id])
            _ = try await outbox.checkPublished(limit: 10, recheck: .zero)
            try await client.execute("UPDATE outbox SET body = '{}' WHERE message_id = \(settled.id)")
            #expect(try await redrive([open.id, settled.id], of: "a", in: client).ids.count == 2)
            #expect(try await waiting(in: client) == [open.id: nil, settled.id: ["a"]])
            let bodies = try await outbox.takeBatch(limit: 9).map(\.envelope.streamFields.last?.value)
            #expect(Set(bodies) == Set([open, settled].map(\.fields.last?.value)), "the outbox removes texts from what it has confirmed")
        }
    }

    @Test func `a message that several groups are given again goes to these`() async throws {
        try await withStorage { client in
            let new = try letter()
            for name in ["a", "b"] { _ = try await add([new], of: name, in: client) }
            for name in ["b", "a"] { _ = try await redrive([new.id], of: name, in: client) }
            #expect(try await waiting(in: client) == [new.id: ["a", "b"]])
        }
    }
}
