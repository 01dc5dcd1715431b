internal import EventBus
internal import FoundationEssentials
internal import Metrics
internal import PostgresClient
internal import Storage
internal import WireFormat

/// Creates deliveries and publishes them to the notifier; all deliveries are created here.
struct DeliveryPlanner {
    /// The code of a delivery that a newer one has replaced.
    static let supersededCode = "superseded"

    /// A notification and the installations it goes to.
    struct Order {
        var notificationID: UUID
        var lane: Lane
        var requestID: String?
        var traceparent: String?
        var expiresAt: Date
        /// Whether it is for a topic: its deliveries may then supersede older ones.
        var isForTopic: Bool
        var addresses: [InstallAddress]
    }

    let transaction: PostgresTransaction

    /// Creates the deliveries of some notifications as pages, in a handful of statements. Each page is an event for the notifier.
    ///
    /// - Returns: The number of created deliveries by notification.
    func plan(_ orders: [Order]) async throws -> [UUID: Int] {
        let planned = orders.map { (order: $0, pages: NewDeliveryPage.pages(of: $0.notificationID, on: $0.lane, to: $0.addresses)) }
            .filter { !$0.pages.isEmpty }
        guard !planned.isEmpty else { return [:] }
        try await DeliveryPageRepository(transaction).insert(planned.flatMap(\.pages))
        let installs = Dictionary(uniqueKeysWithValues: planned.map { ($0.order.notificationID, $0.order.addresses.map(\.id)) })
        let forTopics = Set(orders.filter(\.isForTopic).map(\.notificationID))
        try await supersede(by: installs.filter { forTopics.contains($0.key) })
        let messages = try planned.flatMap { order, pages in
            try pages.map { page in
                let event = NotificationAddressed(
                    notificationID: order.notificationID, pageID: page.id, count: page.addresses.count, lane: order.lane)
                return try NewOutboxMessage(
                    Envelope(event, traceparent: order.traceparent, requestID: order.requestID, expiresAt: order.expiresAt))
            }
        }
        try await OutboxRepository(transaction).append(messages)
        Counter(label: "push_deliveries_addressed_total").increment(by: installs.values.reduce(0) { $0 + $1.count })
        return installs.mapValues(\.count)
    }

    private func supersede(by installIDs: [UUID: [UUID]]) async throws {
        guard !installIDs.isEmpty else { return }
        try await transaction.forceIndexPlans(replan: false)
        let superseded = try await DeliveryRepository(transaction).supersede(by: installIDs, code: Self.supersededCode)
        try await NotificationRepository(transaction).settle(Array(superseded))
    }
}
