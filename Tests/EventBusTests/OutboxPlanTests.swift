import EventBus
import FoundationEssentials
import PostgresClient
import TestSupport
import Testing
import WireFormat

/// Tests the number of rows that the outbox' statements read, with the plans that the server makes for tables without statistics.
struct OutboxPlanTests {
    private static let crowd = 3_000
    private static let batch = 50
    /// The number of executions after which the server has switched to a generic plan.
    private static let warmUps = 8

    /// Appends messages that wait for the relay, and returns their ids.
    private func append(_ count: Int, _ db: some PostgresQueryable) async throws -> [UUID] {
        let messages = try (0..<count).map { _ in
            try NewOutboxMessage(Envelope(NotificationAddressed(notificationID: UUID(), pageID: UUID(), count: 1, lane: .bulk)))
        }
        try await OutboxRepository(db).append(messages)
        return messages.map(\.envelope.id)
    }

    private func markPublished(_ ids: [UUID], _ db: some PostgresQueryable, wait: Duration = .seconds(1)) async throws {
        try await OutboxRepository(db).markPublished(
            ids.map { OutboxPublication(messageID: $0, entryID: "1-1") }, wait: wait, maxWait: wait)
    }

    @Test func `marking messages as published does not read the backlog`() async throws {
        try await withStorage { client in
            try await client.withTransaction { transaction in
                try await transaction.forceIndexPlans(replan: false)
                // Records that the table is empty; the server assumes ten pages for a table that was never analysed.
                try await transaction.execute("ANALYZE outbox")
                for _ in 0..<Self.warmUps { try await markPublished([UUID()], transaction) }
                let ids = try await append(Self.crowd, transaction)
                let before = try await transaction.rowsRead(in: "outbox")
                try await markPublished(Array(ids.shuffled().prefix(Self.batch)), transaction)
                #expect(try await transaction.rowsRead(in: "outbox") - before <= 4 * Int64(Self.batch))
            }
        }
    }

    @Test func `checking published messages reads only their own rows of the inbox`() async throws {
        try await withStorage { client in
            let ids = try await append(Self.batch, client)
            try await markPublished(ids, client, wait: .zero)
            let others = (0..<Self.crowd).map { _ in UUIDv7.generate() }
            _ = try await InboxRepository(client).markHandled(group: "notifier", ids: ids + others)
            try await client.withTransaction { transaction in
                let check = try await OutboxRepository(transaction).checkPublished(limit: 500, recheck: .seconds(60))
                #expect(check.confirmed == Self.batch)
                #expect(try await transaction.rowsRead(in: "inbox") == Int64(Self.batch))
            }
        }
    }
}
