import FoundationEssentials
import PostgresClient
import Storage
import TestSupport
import Testing
import WireFormat

/// The server keeps the plans of statements; those of a queue are made while it is empty, and used when it is full.
struct KeptPlanTests {
    private static let crowd = 3_000
    private static let batch = 50
    /// After so many uses the server plans for any parameters, once and for all.
    private static let warmUps = 8

    private static let notification = NewNotification.make(recipient: .topic("event:plans"))

    /// Runs a statement on empty tables until its plan is kept, fills them, and gives it a batch of ids.
    ///
    /// - Parameters:
    ///   - table: The one that is looked at.
    ///   - fill: Fills it, and returns the ids of its rows.
    ///   - statement: Returns how many rows it changed, or gave.
    /// - Returns: How many rows the statement looked at for each of the batch.
    private func rowsLookedAt(
        in table: String, planningAnew: Bool, filledBy fill: (PostgresTransaction) async throws -> [UUID],
        _ statement: (PostgresTransaction, _ ids: [UUID]) async throws -> Int
    ) async throws -> Int64 {
        var looked: Int64 = 0
        try await withStorage { client in
            try await client.withTransaction { transaction in
                try await transaction.findByKey(planningAnew: planningAnew)
                // Known to be empty; of tables that nobody has looked at yet, the server expects ten pages.
                try await transaction.execute("ANALYZE notifications, deliveries, outbox")
                for _ in 0..<Self.warmUps { _ = try await statement(transaction, [UUID()]) }
                let crowd = try await fill(transaction)
                let before = try await Self.looked(at: table, transaction)
                #expect(try await statement(transaction, Array(crowd.shuffled().prefix(Self.batch))) == Self.batch)
                looked = try await Self.looked(at: table, transaction) - before
            }
        }
        return looked / Int64(Self.batch)
    }

    private static func looked(at table: String, _ transaction: PostgresTransaction) async throws -> Int64 {
        let query: PostgresQuery = """
            SELECT seq_tup_read + idx_tup_fetch AS rows FROM pg_stat_xact_user_tables WHERE relname = \(table)
            """
        return try #require(try await transaction.query(query).first).decode("rows")
    }

    /// Deliveries of one notification.
    private static func deliveries(_ transaction: PostgresTransaction) async throws -> [UUID] {
        _ = try await NotificationRepository(transaction).insert(notification)
        let crowd = (0..<Self.crowd).map { _ in
            NewDelivery(id: UUIDv7.generate(), notificationID: notification.id, installID: UUID(), generation: 1)
        }
        return Array(try await DeliveryRepository(transaction).insertPending(crowd))
    }

    /// Notifications for many, none of which is addressed.
    private static func notifications(_ transaction: PostgresTransaction) async throws -> [UUID] {
        Array(try await NotificationRepository(transaction).insert((0..<Self.crowd).map { _ in NewNotification.make() }))
    }

    /// The same, each addressed to nobody, so that none has a delivery under way.
    private static func addressed(_ transaction: PostgresTransaction) async throws -> [UUID] {
        let ids = try await notifications(transaction)
        try await NotificationRepository(transaction).markAddressed(Dictionary(uniqueKeysWithValues: ids.map { ($0, 0) }))
        return ids
    }

    @Test func `a claim looks at what it claims`() async throws {
        let looked = try await rowsLookedAt(in: "deliveries", planningAnew: false, filledBy: Self.deliveries) {
            try await DeliveryRepository($0)
                .claim($1, of: Self.notification.id, as: UUID(), lane: .urgent, lease: .seconds(60)).count
        }
        #expect((1...3).contains(looked))
    }

    @Test func `the end of a batch looks at what has ended`() async throws {
        let looked = try await rowsLookedAt(in: "deliveries", planningAnew: true, filledBy: Self.deliveries) {
            try await DeliveryRepository($0).settle($1.map { DeliverySettlement(id: $0, outcome: .accepted) }).count
        }
        #expect((1...3).contains(looked))
    }

    @Test func `a postponement looks at what is put off`() async throws {
        let looked = try await rowsLookedAt(in: "deliveries", planningAnew: true, filledBy: Self.deliveries) {
            try await DeliveryRepository($0).postpone(
                $1.map { DeliveryPostponement(id: $0, attempt: 1, delay: .seconds(30), code: "UNAVAILABLE") }
            ).count
        }
        #expect((1...3).contains(looked))
    }

    @Test func `what is addressed is noted without a look at what else is open`() async throws {
        let looked = try await rowsLookedAt(in: "notifications", planningAnew: false, filledBy: Self.notifications) {
            try await NotificationRepository($0).markAddressed(Dictionary(uniqueKeysWithValues: $1.map { ($0, 1) }))
            return try await NotificationRepository($0).find(ids: $1).count { $0.state == .addressed }
        }
        #expect((1...3).contains(looked))
    }

    @Test func `what reaches nobody is ended without a look at what else is open`() async throws {
        let looked = try await rowsLookedAt(in: "notifications", planningAnew: false, filledBy: Self.notifications) {
            try await NotificationRepository($0).markSkipped($1, reason: "expired").count
        }
        #expect((1...3).contains(looked))
    }

    @Test(arguments: [true, false])
    func `what is told to the end is ended without a look at what else is open`(planningAnew: Bool) async throws {
        let looked = try await rowsLookedAt(in: "notifications", planningAnew: planningAnew, filledBy: Self.addressed) {
            try await NotificationRepository($0).settle($1).count
        }
        #expect((1...3).contains(looked))
    }

    /// Messages that wait for the relay.
    private static func messages(_ transaction: PostgresTransaction) async throws -> [UUID] {
        let crowd = try (0..<crowd).map { _ in
            try NewOutboxMessage(Envelope(NotificationAddressed(notificationID: UUID(), deliveryIDs: [UUID()], lane: .bulk)))
        }
        try await OutboxRepository(transaction).append(crowd)
        return crowd.map(\.envelope.id)
    }

    @Test func `published messages are marked one by one, however many wait`() async throws {
        let looked = try await rowsLookedAt(in: "outbox", planningAnew: false, filledBy: Self.messages) { transaction, ids in
            try await OutboxRepository(transaction).markPublished(
                ids.map { OutboxPublication(messageID: $0, entryID: "1-1") }, wait: .seconds(1), waitMax: .seconds(1))
            return ids.count
        }
        #expect(looked <= 4)
    }
}
