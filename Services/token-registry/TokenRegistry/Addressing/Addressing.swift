internal import EventBus
internal import FoundationEssentials
internal import Metrics
internal import PostgresClient
internal import Storage
internal import WireFormat

/// Makes deliveries and hands them to the notifier: the one way in which it is decided what is sent where.
struct Addressing {
    /// The code of a delivery whose place a newer one took.
    static let supersededCode = "superseded"

    /// Up to so many deliveries are made by the plans that the server has.
    private static let keptPlansMax = 50

    /// A notification and the installations it goes to.
    struct Order {
        var notificationID: UUID
        var lane: Lane
        var requestID: String?
        var traceparent: String?
        var expiresAt: Date
        /// Whether it is for a topic: then it may take the place of others.
        var isForTopic: Bool
        var addresses: [InstallAddress]
    }

    let transaction: PostgresTransaction

    /// Makes the deliveries of some notifications, in a handful of statements. An installation that has its delivery already
    /// (it passed from one member of a topic to another) gets no second one.
    ///
    /// - Returns: How many were made, for each notification.
    func address(_ orders: [Order]) async throws -> [UUID: Int] {
        let deliveries = DeliveryRepository(transaction)
        let batch = orders.flatMap { order in
            order.addresses.map { NewDelivery(of: order.notificationID, to: $0) }
        }
        guard !batch.isEmpty else { return [:] }
        // Planning a few deliveries anew would take longer than making them.
        try await transaction.findByKey(planningAnew: batch.count > Self.keptPlansMax)
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

    /// Makes the deliveries of a part of a fan-out, on pages.
    ///
    /// - Returns: How many were made.
    func addressPages(_ order: Order) async throws -> Int {
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

    /// The events that hand deliveries to the notifier: one for every ``NotificationAddressed/deliveriesMax`` of them.
    private static func messages(_ order: Order, _ deliveryIDs: [UUID]) throws -> [NewOutboxMessage] {
        try stride(from: 0, to: deliveryIDs.count, by: NotificationAddressed.deliveriesMax).map { start in
            let part = deliveryIDs[start..<min(start + NotificationAddressed.deliveriesMax, deliveryIDs.count)]
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
    /// A delivery of a notification to an installation as it is now.
    fileprivate init(of notificationID: UUID, to address: InstallAddress) {
        self.init(
            id: UUIDv7.generate(), notificationID: notificationID, installID: address.id, generation: address.generation)
    }
}
