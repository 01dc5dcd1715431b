import FoundationEssentials
import PostgresClient
import Push
import TestSupport
import Testing
import WireFormat

/// The server caches the plans of statements. Those of a queue are made while it is empty, and used when it is full.
struct KeptPlanTests {
    private static let crowd = 3_000
    private static let batch = 50
    /// The number of executions after which the server has switched to a generic plan.
    private static let warmUps = 8

    private static let notification = NewNotification.make(recipient: .topic("event:plans"))

    /// Runs a statement on empty tables until its plan is cached, fills them, and runs it with a batch of ids.
    ///
    /// - Parameters:
    ///   - table: The table whose reads are counted.
    ///   - fill: Fills the table, and returns the ids of its rows.
    ///   - statement: Returns the number of rows it changed or returned.
    /// - Returns: The number of rows of the table that the statement read for each id of the batch.
    private func rowsRead(
        in table: String, replan: Bool, filledBy fill: (PostgresTransaction) async throws -> [UUID],
        _ statement: (PostgresTransaction, _ ids: [UUID]) async throws -> Int
    ) async throws -> Int64 {
        var read: Int64 = 0
        try await withStorage { client in
            try await client.withTransaction { transaction in
                try await transaction.forceIndexPlans(replan: replan)
                // Records that the tables are empty; the server assumes ten pages for a table that was never analysed.
                try await transaction.execute("ANALYZE notifications, deliveries, delivery_pages")
                for _ in 0..<Self.warmUps { _ = try await statement(transaction, [UUID()]) }
                let crowd = try await fill(transaction)
                let before = try await transaction.rowsRead(in: table)
                #expect(try await statement(transaction, Array(crowd.shuffled().prefix(Self.batch))) == Self.batch)
                read = try await transaction.rowsRead(in: table) - before
            }
        }
        return read / Int64(Self.batch)
    }

    /// Pages of one delivery each, of one notification.
    private static func pages(_ transaction: PostgresTransaction) async throws -> [UUID] {
        _ = try await NotificationRepository(transaction).insert(notification)
        let crowd = (0..<Self.crowd).map { _ in NewDeliveryPage.make(notification.id) }
        try await DeliveryPageRepository(transaction).insert(crowd)
        return crowd.flatMap(\.deliveryIDs)
    }

    /// Deliveries of one notification that have left their pages, claimed for the second time.
    private static func deliveries(_ transaction: PostgresTransaction) async throws -> [UUID] {
        let (ids, repository) = (try await pages(transaction), DeliveryRepository(transaction))
        try await transaction.execute("UPDATE delivery_pages SET state = 'sending', attempt = 1")
        try await repository.deferDeliveries(ids.map { DeliveryDeferral(id: $0, attempt: 1, delay: .zero, code: "UNAVAILABLE") })
        try await transaction.execute("UPDATE deliveries SET state = 'sending', attempt = 2")
        return ids
    }

    /// Notifications in the state `requested`.
    private static func notifications(_ transaction: PostgresTransaction) async throws -> [UUID] {
        Array(try await NotificationRepository(transaction).insert((0..<Self.crowd).map { _ in NewNotification.make() }))
    }

    /// Addressed notifications without deliveries.
    private static func addressed(_ transaction: PostgresTransaction) async throws -> [UUID] {
        let ids = try await notifications(transaction)
        try await NotificationRepository(transaction).markAddressed(Dictionary(uniqueKeysWithValues: ids.map { ($0, 0) }))
        return ids
    }

    @Test func `a claim reads only what it claims`() async throws {
        let read = try await rowsRead(in: "delivery_pages", replan: false, filledBy: Self.pages) {
            try await DeliveryRepository($0).claim($1).count
        }
        #expect((1...3).contains(read))
    }

    @Test(arguments: ["delivery_pages", "deliveries"])
    func `settling a batch reads only its deliveries`(table: String) async throws {
        let read = try await rowsRead(in: table, replan: true, filledBy: table == "deliveries" ? Self.deliveries : Self.pages) {
            try await DeliveryRepository($0).settle($1.map { DeliverySettlement(id: $0, outcome: .accepted) }).count
        }
        #expect((1...3).contains(read))
    }

    @Test func `deferring a batch reads only its deliveries`() async throws {
        let read = try await rowsRead(in: "deliveries", replan: true, filledBy: Self.deliveries) {
            try await DeliveryRepository($0).deferDeliveries(
                $1.map { DeliveryDeferral(id: $0, attempt: 2, delay: .seconds(30), code: "UNAVAILABLE") }
            ).count
        }
        #expect((1...3).contains(read))
    }

    @Test func `marking notifications as addressed does not read other open ones`() async throws {
        let read = try await rowsRead(in: "notifications", replan: false, filledBy: Self.notifications) {
            try await NotificationRepository($0).markAddressed(Dictionary(uniqueKeysWithValues: $1.map { ($0, 1) }))
            return try await NotificationRepository($0).find(ids: $1).count { $0.state == .addressed }
        }
        #expect((1...3).contains(read))
    }

    @Test func `skipping notifications does not read other open ones`() async throws {
        let read = try await rowsRead(in: "notifications", replan: false, filledBy: Self.notifications) {
            try await NotificationRepository($0).markSkipped($1, reason: .expired).count
        }
        #expect((1...3).contains(read))
    }

    @Test(arguments: [true, false])
    func `settling notifications does not read other open ones`(replan: Bool) async throws {
        let read = try await rowsRead(in: "notifications", replan: replan, filledBy: Self.addressed) {
            try await NotificationRepository($0).settle($1).count
        }
        #expect((1...3).contains(read))
    }
}
