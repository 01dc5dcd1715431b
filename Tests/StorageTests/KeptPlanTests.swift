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

    /// Runs a statement on empty tables until its plan is kept, fills them, and gives it a batch of ids.
    ///
    /// - Returns: How many rows of `deliveries` the statement looked at for the batch.
    private func rowsLookedAt(
        planningAnew: Bool, _ statement: (DeliveryRepository, _ notificationID: UUID, _ ids: [UUID]) async throws -> Int
    ) async throws -> Int64 {
        var looked: Int64 = 0
        try await withStorage { client in
            try await client.withTransaction { transaction in
                let deliveries = DeliveryRepository(transaction)
                try await transaction.findByKey(planningAnew: planningAnew)
                let notification = NewNotification.make(recipient: .topic("event:plans"))
                _ = try await NotificationRepository(transaction).insert(notification)
                for _ in 0..<Self.warmUps { _ = try await statement(deliveries, notification.id, [UUID()]) }
                let crowd = (0..<Self.crowd).map { _ in
                    NewDelivery(id: UUIDv7.generate(), notificationID: notification.id, installID: UUID(), generation: 1)
                }
                _ = try await deliveries.insertPending(crowd)
                let before = try await Self.looked(transaction)
                let ids = crowd.shuffled().prefix(Self.batch).map(\.id)
                #expect(try await statement(deliveries, notification.id, ids) == Self.batch)
                looked = try await Self.looked(transaction) - before
            }
        }
        return looked
    }

    private static func looked(_ transaction: PostgresTransaction) async throws -> Int64 {
        let query: PostgresQuery = """
            SELECT seq_tup_read + idx_tup_fetch AS rows FROM pg_stat_xact_user_tables WHERE relname = 'deliveries'
            """
        return try #require(try await transaction.query(query).first).decode("rows")
    }

    @Test func `a claim looks at what it claims`() async throws {
        let looked = try await rowsLookedAt(planningAnew: false) { deliveries, notificationID, ids in
            try await deliveries.claim(ids, of: notificationID, as: UUID(), lane: .urgent, lease: .seconds(60)).count
        }
        #expect((1...3 * Int64(Self.batch)).contains(looked))
    }

    @Test func `the end of a batch looks at what has ended`() async throws {
        let looked = try await rowsLookedAt(planningAnew: true) { deliveries, _, ids in
            try await deliveries.settle(ids.map { DeliverySettlement(id: $0, outcome: .accepted) }).count
        }
        #expect((1...3 * Int64(Self.batch)).contains(looked))
    }

    @Test func `a postponement looks at what is put off`() async throws {
        let looked = try await rowsLookedAt(planningAnew: true) { deliveries, _, ids in
            try await deliveries.postpone(
                ids.map { DeliveryPostponement(id: $0, attempt: 1, delay: .seconds(30), code: "UNAVAILABLE") }
            ).count
        }
        #expect((1...3 * Int64(Self.batch)).contains(looked))
    }
}
