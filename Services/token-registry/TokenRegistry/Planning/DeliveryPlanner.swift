internal import EventBus
internal import FoundationEssentials
internal import Metrics
internal import PostgresClient
internal import Push
internal import WireFormat

/// Creates deliveries, except those of fan-outs (`TopicFanOutRepository`), and publishes all deliveries to the notifier.
struct DeliveryPlanner {
    /// A notification whose deliveries are created.
    struct Order {
        var notificationID: UUID
        var lane: Lane
        var requestID: String?
        var traceparent: String?
        var expiresAt: Date
        /// Whether it is for a topic: its deliveries may then supersede older ones.
        var isForTopic: Bool
    }

    let transaction: PostgresTransaction

    /// Creates the deliveries of some notifications to installations as pages, and publishes them, in a handful of statements.
    ///
    /// - Returns: The number of created deliveries by notification.
    func plan(_ orders: [(order: Order, addresses: [InstallAddress])]) async throws -> [UUID: Int] {
        let planned = orders.map { order, addresses in
            (order: order, pages: NewDeliveryPage.pages(of: order.notificationID, on: order.lane, to: addresses))
        }
        try await DeliveryPageRepository(transaction).insert(planned.flatMap(\.pages))
        return try await publish(planned.map { ($0.order, $0.pages.map(\.addressed)) })
    }

    /// Publishes the new pages of some notifications, each as an event for the notifier.
    ///
    /// - Returns: The number of their deliveries by notification; none for a notification without pages.
    func publish(_ addressed: [(order: Order, pages: [AddressedPage])]) async throws -> [UUID: Int] {
        let addressed = addressed.filter { !$0.pages.isEmpty }
        guard !addressed.isEmpty else { return [:] }
        try await supersede(by: addressed.filter(\.order.isForTopic))
        let messages = try addressed.flatMap { order, pages in
            try pages.map { page in
                let event = NotificationAddressed(
                    notificationID: order.notificationID, pageID: page.id, count: page.count, lane: order.lane)
                return try NewOutboxMessage(
                    Envelope(event, traceparent: order.traceparent, requestID: order.requestID, expiresAt: order.expiresAt))
            }
        }
        try await OutboxRepository(transaction).append(messages)
        let counts = addressed.map { ($0.order.notificationID, $0.pages.reduce(0) { $0 + $1.count }) }
        Counter(label: "push_deliveries_addressed_total").increment(by: counts.reduce(0) { $0 + $1.1 })
        return Dictionary(uniqueKeysWithValues: counts)
    }

    private func supersede(by addressed: [(order: Order, pages: [AddressedPage])]) async throws {
        guard !addressed.isEmpty else { return }
        try await transaction.forceIndexPlans(replan: false)
        let newPages = Dictionary(uniqueKeysWithValues: addressed.map { ($0.order.notificationID, $0.pages) })
        let superseded = try await DeliveryRepository(transaction).supersede(by: newPages, code: .superseded)
        try await NotificationRepository(transaction).settle(Array(superseded))
    }
}
