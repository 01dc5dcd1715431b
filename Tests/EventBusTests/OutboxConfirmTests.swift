import EventBus
import FoundationEssentials
import PostgresClient
import Push
import TestSupport
import Testing
import WireFormat

/// Tests published messages: their checks and their settlement.
struct OutboxConfirmTests {
    /// Appends messages for groups and marks them as published; they are due at once.
    private func publish(
        _ count: Int, groups: [String] = ["g"], expiresAt: Date? = nil, at date: Date = Date(), in client: PostgresClient
    ) async throws -> [OutboxPublication] {
        let envelopes = try (0..<count).map { _ in
            try Envelope(
                EkycRequested(sessionID: UUID(), event: .signIn, lane: .new), id: UUIDv7.generate(at: date), requestID: "r",
                expiresAt: expiresAt
            ).encoded()
        }
        let outbox = OutboxRepository(client)
        try await outbox.append(envelopes.map { NewOutboxMessage($0, stream: "s", groups: groups) })
        let publications = envelopes.enumerated().map { OutboxPublication(messageID: $1.id, entryID: "\($0 + 1)-0") }
        try await outbox.markPublished(publications, wait: .zero, maxWait: .zero)
        return publications
    }

    private func handle(_ publications: [OutboxPublication], group: String = "g", in client: PostgresClient) async throws {
        _ = try await InboxRepository(client).markHandled(group: group, ids: publications.map(\.messageID))
    }

    private func state(of publication: OutboxPublication, in client: PostgresClient) async throws -> String {
        let rows = try await client.query("SELECT state FROM outbox WHERE message_id = \(publication.messageID)")
        return try rows[0].decode("state")
    }

    @Test func `a message is confirmed when all of its groups have handled it`() async throws {
        try await withStorage { client in
            let outbox = OutboxRepository(client)
            let both = try await publish(2, groups: ["a", "b", "a"], in: client)
            try await handle(both, group: "a", in: client)
            try await handle([both[1]], group: "b", in: client)
            let check = try await outbox.checkPublished(limit: 10, recheck: .zero)
            #expect(check.confirmed == 1)
            #expect(check.overdue.map(\.publication) == [both[0]])
            #expect(check.overdue.map(\.missingGroups) == [["b"]])
            try await handle([both[0]], group: "b", in: client)
            #expect(try await outbox.checkPublished(limit: 10, recheck: .zero).confirmed == 1)
            #expect(try await outbox.backlog().unconfirmed == 0)
        }
    }

    @Test func `a confirmed message loses users' texts, and not before`() async throws {
        try await withStorage { client in
            let outbox = OutboxRepository(client)
            guard case .chatMessage(var message) = PushContent.sample(.chatMessage) else {
                Issue.record("the sample is of another kind")
                return
            }
            message.text = SealedText(.chatPreview, bytes: Array("ABC".utf8))
            message.senderName = SealedText(.chatSenderName, bytes: Array("DEF".utf8))
            message.messageID = "m-1\u{0}"
            let request = message.request(UUIDv7.generate(), postedAt: Date(), memberCount: 2)
            let envelope = try Envelope(request).encoded()
            try await outbox.append([NewOutboxMessage(envelope, stream: "s", groups: ["g"])])
            let publication = OutboxPublication(messageID: envelope.id, entryID: "1-0")
            try await outbox.markPublished([publication], wait: .zero, maxWait: .zero)
            func body() async throws -> String {
                String(
                    decoding: try await client.query("SELECT body FROM outbox")[0].decode("body", as: [UInt8].self), as: UTF8.self
                )
            }
            _ = try await outbox.checkPublished(limit: 10, recheck: .zero)
            #expect(try await body().contains("QUJD"))
            try await handle([publication], in: client)
            _ = try await outbox.checkPublished(limit: 10, recheck: .zero)
            let rest = try await body()
            #expect(!rest.contains("QUJD") && !rest.contains("REVG"))
            #expect(rest.contains("m-1") && rest.contains(request.notificationID.wireString))
            let stored = try EncodedEnvelope(
                id: envelope.id, type: envelope.type, version: envelope.version, key: envelope.key, occurredAt: Date(),
                body: Array(rest.utf8))
            #expect(try stored.decode(NotificationRequested.self).body.notificationID == request.notificationID, "it is still readable")
        }
    }

    @Test func `a checked message is not checked again until it is due`() async throws {
        try await withStorage { client in
            let messages = try await publish(10, in: client)
            let seen = try await race(4) { _ in
                try await OutboxRepository(client).checkPublished(limit: 4, recheck: .seconds(600)).overdue.map(\.publication)
            }
            let rest = try await OutboxRepository(client).checkPublished(limit: 100, recheck: .seconds(600)).overdue
            #expect(
                (seen.flatMap { $0 } + rest.map(\.publication)).map(\.messageID).sorted() == messages.map(\.messageID).sorted())
            #expect(try await OutboxRepository(client).checkPublished(limit: 100, recheck: .zero).overdue.isEmpty)
        }
    }

    @Test func `a lost message waits for the relay again, unless it was handled or published meanwhile`() async throws {
        try await withStorage { client in
            let outbox = OutboxRepository(client)
            let messages = try await publish(3, in: client)
            try await handle([messages[1]], in: client)
            let stale = OutboxPublication(messageID: messages[2].messageID, entryID: "0-1")
            let result = try await outbox.publishAgain([messages[0], messages[1], stale])
            #expect(result == (waiting: 1, expired: 0))
            #expect(try await outbox.takeBatch(limit: 10).map(\.envelope.id) == [messages[0].messageID])
        }
    }

    @Test func `a lost message that has expired is not republished`() async throws {
        try await withStorage { client in
            let messages = try await publish(1, expiresAt: Date(timeIntervalSinceNow: -1), in: client)
            #expect(try await OutboxRepository(client).publishAgain(messages) == (waiting: 0, expired: 1))
            #expect(try await state(of: messages[0], in: client) == "expired")
            #expect(try await OutboxRepository(client).takeBatch(limit: 10).isEmpty)
        }
    }

    @Test func `each publication lengthens the time until the next check by half, up to a limit`() async throws {
        try await withStorage { client in
            let outbox = OutboxRepository(client)
            let messages = try await publish(1, in: client)
            var waits: [Int] = []
            for _ in 0..<6 {
                _ = try await outbox.publishAgain(messages)
                try await outbox.markPublished(messages, wait: .seconds(16), maxWait: .seconds(100))
                let row = try await client.query("SELECT extract(epoch FROM due_at - published_at)::int AS wait FROM outbox")[0]
                waits.append(Int(try row.decode("wait", as: Int32.self)))
            }
            #expect(waits == [24, 36, 54, 81, 100, 100])
        }
    }

    @Test func `settled messages are deleted after a day in batches, open ones are kept`() async throws {
        try await withStorage { client in
            let outbox = OutboxRepository(client)
            let yesterday = Date(timeIntervalSinceNow: -25 * 3600)
            let old = try await publish(10, at: yesterday, in: client)
            let young = try await publish(2, in: client)
            try await handle(Array(old.prefix(7)) + young, in: client)
            _ = try await outbox.checkPublished(limit: 100, recheck: .zero)
            #expect(try await outbox.deleteSettled(olderThan: .seconds(86_400), limit: 100) == 0, "settled just now")
            try await client.execute("UPDATE outbox SET settled_at = \(yesterday) WHERE settled_at IS NOT NULL")
            #expect(try await outbox.deleteSettled(olderThan: .seconds(86_400), limit: 5) == 5)
            #expect(try await outbox.deleteSettled(olderThan: .seconds(86_400), limit: 5) == 2)
            #expect(try await outbox.backlog().unconfirmed == 3)
        }
    }
}
