internal import Accounts
public import EventBus
internal import FoundationEssentials
internal import HeliographTracing
public import Logging
internal import Metrics
public import PostgresClient
public import Push
internal import Topics
public import WireFormat

/// Makes deliveries to installations from requests to notify recipients.
///
/// A batch is a handful of statements in one transaction: new notifications (a dedupe key counts once), the
/// installations of their recipients, deliveries, and a `notification.addressed` each for the notifier. A topic may have 100,000
/// members, so the fan-out of a big one is only begun here and continued by ``TopicFanOutService``. A recipient that cannot be
/// reached is not an error: the notification is skipped, with the reason in its row, and logged by id.
public struct NotificationRequestedHandler: EventBatchHandler {
    private let logger: Logger

    /// Makes the handler.
    public init(logger: Logger) {
        self.logger = logger
    }

    /// Plans the deliveries of a batch in one transaction, which commits asynchronously: lost requests are published again.
    public func handle(
        _ events: [Envelope<NotificationRequested>], in transaction: PostgresTransaction
    ) async throws {
        // If an asynchronous commit is lost, the requests are published again, because they are not in the inbox; a push that was
        // sent by then replaces itself.
        try await transaction.commitAsynchronously()
        let storable = events.filter { event in
            if event.body.isStorable { return true }
            WorkContext.$current.withValue(event.work) { logger.error("notification request refused") }
            return false
        }
        var fresh = try await NotificationRepository(transaction).insert(storable.map(NewNotification.init))
        // A batch may request a notification twice, in two messages.
        let requests = storable.filter { fresh.remove($0.body.notificationID) != nil }
        guard !requests.isEmpty else { return }

        let now = Date()
        let timely = requests.filter { $0.body.expiresAt > now }
        let resolver = RecipientResolver(transaction: transaction)
        let resolutions = try await resolver.resolve(Set(timely.map(\.body.recipient)))
        let blockers = try await Self.blockers(timely.map(\.body), resolutions, in: transaction)

        var orders: [(order: DeliveryPlanner.Order, addresses: [InstallAddress])] = []
        var fanOuts: [(request: Envelope<NotificationRequested>, topicID: UUID?)] = []
        var skipped: [SkipReason: [Envelope<NotificationRequested>]] = [:]
        for request in requests {
            let blockers = request.body.references.senderID.flatMap { blockers[$0] } ?? []
            switch Self.decide(on: request.body, resolutions[request.body.recipient], blockers, now: now) {
            case .address(let addresses): orders.append((DeliveryPlanner.Order(request), addresses))
            case .fanOut(let topicID): fanOuts.append((request, topicID))
            case .skip(let reason): skipped[reason, default: []].append(request)
            }
        }
        let made = try await DeliveryPlanner(transaction: transaction).plan(orders)
        try await NotificationRepository(transaction).markAddressed(made)
        for (request, topicID) in fanOuts {
            try await TopicFanOutRepository(transaction).begin(
                notificationID: request.body.notificationID, topicID: topicID, except: request.body.exceptUserID,
                senderID: request.body.references.senderID)
        }
        try await skip(skipped, in: transaction)
        let unfinished = Set(fanOuts.map(\.request.body.notificationID))
        let lists = requests.filter { $0.body.recipient.type == .list }.map(\.body.notificationID)
        try await AppNotificationRepository(transaction).forgetRecipients(of: lists.filter { !unfinished.contains($0) })
    }

    private enum Decision {
        case address([InstallAddress])
        case fanOut(topicID: UUID?)
        case skip(SkipReason)
    }

    private static func decide(
        on request: NotificationRequested, _ resolution: RecipientResolver.Resolution?, _ blockers: Set<UUID>, now: Date
    ) -> Decision {
        guard request.expiresAt > now else { return .skip(.expired) }
        /// The reachable addresses that `isTaken` lets pass; `reason` when there are only others.
        func reach(_ addresses: [InstallAddress], or reason: SkipReason, _ isTaken: (InstallAddress) -> Bool) -> Decision {
            let reachable = addresses.filter { $0.isReachable(on: request.lane, at: now) }
            let taken = reachable.filter(isTaken)
            return taken.isEmpty ? .skip(reachable.isEmpty ? .noInstallation : reason) : .address(taken)
        }
        switch resolution {
        case nil: return .skip(.recipientUnsupported)
        case .skipped(let reason): return .skip(reason)
        case .addresses(let addresses): return reach(addresses, or: .ownDevice) { $0.id != request.exceptInstallID }
        case .longList: return .fanOut(topicID: nil)
        case .topic(let topic, let addresses):
            // The topic has ended since the request, and a new one has its name.
            if let meant = request.references.topicID, meant != topic.id { return .skip(.topicEnded) }
            guard topic.memberCount > 0 else { return .skip(.noRecipient) }
            guard let addresses else { return .fanOut(topicID: topic.id) }
            let others = addresses.filter { $0.userID != request.exceptUserID }
            return reach(others, or: .senderBlocked) { !($0.userID.map(blockers.contains) ?? false) }
        }
    }

    /// Returns the members of small topics who block the senders of these requests, by sender; a fan-out leaves them out itself.
    private static func blockers(
        _ requests: [NotificationRequested], _ resolutions: [NotificationRecipient: RecipientResolver.Resolution],
        in transaction: PostgresTransaction
    ) async throws -> [UUID: Set<UUID>] {
        let pairs = requests.compactMap { request -> (topicID: UUID, senderID: UUID)? in
            guard let senderID = request.references.senderID else { return nil }
            guard case .topic(let topic, .some) = resolutions[request.recipient] else { return nil }
            return (topic.id, senderID)
        }
        return try await BlockRepository(transaction).blockers(in: pairs)
    }

    private func skip(
        _ skipped: [SkipReason: [Envelope<NotificationRequested>]], in transaction: PostgresTransaction
    ) async throws {
        for (reason, events) in skipped {
            let requests = events.map(\.body)
            try await NotificationRepository(transaction).markSkipped(requests.map(\.notificationID), reason: reason)
            // These sessions get no push, so the tokens of failed ones are no longer needed.
            let sessions = requests.filter { $0.recipient.type == .session }.compactMap { UUID(wireString: $0.recipient.id) }
            try await SessionInstallCleanup(transaction: transaction, logger: logger).run(sessionIDs: sessions)
            for event in events { log(event, skippedFor: reason) }
            Counter(label: "push_notifications_skipped_total", dimensions: [("reason", reason.rawValue)])
                .increment(by: requests.count)
        }
    }

    private func log(_ event: Envelope<NotificationRequested>, skippedFor reason: SkipReason) {
        let request = event.body
        WorkContext.$current.withValue(event.work) {
            logger.notice(
                "notification skipped",
                metadata: [
                    "notification_id": "\(request.notificationID.wireString)", "reason": "\(reason.rawValue)",
                    "kind": "\(request.kind.rawValue)", "recipient_type": "\(request.recipient.type.rawValue)",
                ])
        }
    }
}

extension NotificationRequested {
    /// Whether the database accepts its key and its recipient: it refuses NUL and texts of a wrong length. One refused row would fail
    /// the whole batch at every retry.
    fileprivate var isStorable: Bool {
        [dedupeKey, recipient.id].allSatisfy { 1...200 ~= $0.count && !$0.utf8.contains(0) }
    }
}

extension NewNotification {
    fileprivate init(_ event: Envelope<NotificationRequested>) {
        let request = event.body
        self.init(
            id: request.notificationID, dedupeKey: request.dedupeKey, content: request.content, recipient: request.recipient,
            lane: request.lane, requestID: event.requestID, traceparent: event.traceparent, expiresAt: request.expiresAt)
    }
}

extension DeliveryPlanner.Order {
    fileprivate init(_ request: Envelope<NotificationRequested>) {
        self.init(
            notificationID: request.body.notificationID, lane: request.body.lane, requestID: request.requestID,
            traceparent: request.traceparent, expiresAt: request.body.expiresAt,
            isForTopic: request.body.recipient.type == .topic)
    }
}
