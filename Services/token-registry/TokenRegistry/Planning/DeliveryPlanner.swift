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

    /// The number of deliveries up to which Postgres' cached plans are used.
    private static let maxKeptPlans = 50

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

    /// Creates the deliveries of some notifications, in a handful of statements. An installation that already has a delivery of
    /// the notification (because it has passed from one member of a topic to another) gets no second one.
    ///
    /// - Returns: The number of created deliveries by notification.
    func plan(_ orders: [Order]) async throws -> [UUID: Int] {
        let deliveries = DeliveryRepository(transaction)
        let batch = orders.flatMap { order in
            order.addresses.map { NewDelivery(of: order.notificationID, to: $0) }
        }
        guard !batch.isEmpty else { return [:] }
        // Planning the statement again for a few deliveries would take longer than creating them.
        try await transaction.forceIndexPlans(replan: batch.count > Self.maxKeptPlans)
        let made = try await deliveries.insertPending(batch)
        let byNotification = Dictionary(grouping: batch.filter { made.contains($0.id) }, by: \.notificationID)
        let forTopics = Set(orders.filter(\.isForTopic).map(\.notificationID))
        try await supersede(by: byNotification.filter { forTopics.contains($0.key) }.mapValues { $0.map(\.installID) })
        let messages = try orders.flatMap { order in
            try Self.messages(order, (byNotification[order.notificationID] ?? []).map(\.id))
        }
        try await OutboxRepository(transaction).append(messages)
        Counter(label: "push_deliveries_addressed_total").increment(by: made.count)
        return byNotification.mapValues(\.count)
    }

    /// Creates the deliveries of a part of a fan-out, as delivery pages.
    ///
    /// - Returns: The number of created deliveries.
    func planPages(_ order: Order) async throws -> Int {
        let pages = NewDeliveryPage.pages(of: order.notificationID, on: order.lane, to: order.addresses)
        let installIDs = pages.flatMap { $0.addresses.map(\.id) }
        guard !installIDs.isEmpty else { return 0 }
        try await DeliveryPageRepository(transaction).insert(pages)
        try await supersede(by: [order.notificationID: installIDs])
        try await OutboxRepository(transaction).append(
            pages.map { page in
                try Self.message(
                    order,
                    NotificationAddressed(
                        notificationID: order.notificationID, page: AddressedPage(id: page.id, count: page.addresses.count),
                        lane: order.lane))
            })
        Counter(label: "push_deliveries_addressed_total").increment(by: installIDs.count)
        return installIDs.count
    }

    private func supersede(by installIDs: [UUID: [UUID]]) async throws {
        let superseded = try await DeliveryRepository(transaction).supersede(by: installIDs, code: Self.supersededCode)
        try await NotificationRepository(transaction).settle(Array(superseded))
    }

    /// Returns the events for the notifier: one for every ``NotificationAddressed/maxDeliveries`` deliveries.
    private static func messages(_ order: Order, _ deliveryIDs: [UUID]) throws -> [NewOutboxMessage] {
        try stride(from: 0, to: deliveryIDs.count, by: NotificationAddressed.maxDeliveries).map { start in
            let part = deliveryIDs[start..<min(start + NotificationAddressed.maxDeliveries, deliveryIDs.count)]
            return try message(
                order,
                NotificationAddressed(notificationID: order.notificationID, deliveryIDs: Array(part), lane: order.lane))
        }
    }

    private static func message(_ order: Order, _ event: NotificationAddressed) throws -> NewOutboxMessage {
        try NewOutboxMessage(
            Envelope(event, traceparent: order.traceparent, requestID: order.requestID, expiresAt: order.expiresAt))
    }
}

extension NewDelivery {
    /// A delivery of a notification to the current generation of an installation.
    fileprivate init(of notificationID: UUID, to address: InstallAddress) {
        self.init(
            id: UUIDv7.generate(), notificationID: notificationID, installID: address.id, generation: address.generation)
    }
}
