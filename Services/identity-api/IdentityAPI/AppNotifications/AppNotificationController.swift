internal import EventBus
internal import FoundationEssentials
internal import Metrics
internal import PostgresClient
internal import Push
internal import Topics
internal import WireFormat

/// Answers `POST /v1/notifications`, and `GET` and `DELETE /v1/notifications/{id}`, for apps' own servers.
///
/// A notification is one row and one event, however many recipients it has: token-registry plans its pushes like those of any other
/// notification; quota, pacing, suppression, badges, the ledger and receipts do not differ.
struct AppNotificationController: Sendable {
    let postgres: PostgresClient
    let keys: AccountKeys

    /// Requests a notification once: a repetition with the same dedupe key gets the first answer.
    func post(_ call: APICall<ServiceIdentity, Void, AppNotificationBody>) async throws -> APIRepeatable<AcceptedNotification> {
        let order = try AppNotificationOrder(call.body, by: call.sender)
        let fingerprints = try order.fingerprints(keys)
        let (stored, isReplay) = try await postgres.withTransaction { transaction in
            try await write(order, fingerprints[0], call.context, in: transaction)
        }
        guard fingerprints.contains(stored.fingerprint) else {
            throw APIError(.idempotencyKeyReused, "The key was used for another notification", field: "dedupe_key")
        }
        if !isReplay {
            Counter(label: "app_notifications_total", dimensions: [("when", order.isScheduled ? "later" : "now")]).increment()
        }
        return APIRepeatable(value: AcceptedNotification(notification: stored), isReplay: isReplay)
    }

    /// Returns the state of a notification.
    func get(_ call: APICall<ServiceIdentity, UUID, EmptyBody>) async throws -> NotificationReply {
        let notifications = AppNotificationRepository(postgres)
        guard let found = try await notifications.find(id: call.target, of: call.sender.app) else {
            throw APIError.notificationNotFound
        }
        return NotificationReply(notification: found, counts: try await notifications.counts(of: found.id))
    }

    /// Cancels a notification that is not due yet.
    func cancel(_ call: APICall<ServiceIdentity, UUID, EmptyBody>) async throws {
        let (id, app, notifications) = (call.target, call.sender.app, AppNotificationRepository(postgres))
        if try await notifications.cancel(id: id, of: app) { return }
        guard let found = try await notifications.find(id: id, of: app) else { throw APIError.notificationNotFound }
        guard found.state == .cancelled else { throw APIError(.alreadySent, "The notification was due, and is on its way") }
    }

    /// Stores a notification, and publishes it if it is due, in one transaction.
    ///
    /// - Returns: The notification, or an earlier notification with the same dedupe key.
    private func write(
        _ order: AppNotificationOrder, _ fingerprint: [UInt8], _ context: APIRequestContext, in transaction: PostgresTransaction
    ) async throws -> (AppNotification, isReplay: Bool) {
        let notifications = AppNotificationRepository(transaction)
        let (body, app) = (order.body, order.service.app)
        if let key = body.dedupeKey, let first = try await notifications.find(dedupeKey: key, of: app) { return (first, true) }
        let topic = try await topic(of: order, in: transaction)
        let event = Envelope(
            try order.request(keys, topicID: topic?.id), traceparent: context.traceparent, requestID: context.requestID,
            expiresAt: order.expiresAt)
        let new = NewAppNotification(
            id: order.id, app: app, credentialID: order.service.credentialID, kind: body.content.kind, dedupeKey: body.dedupeKey,
            fingerprint: fingerprint, userIDs: body.userIDs, scheduledRequest: order.isScheduled ? try event.encoded().body : nil,
            requestID: context.requestID, traceparent: context.traceparent, notBefore: order.notBefore, expiresAt: order.expiresAt)
        if order.isScheduled, try await notifications.hasMaxScheduled(app: app) {
            throw APIError(.limitReached, "An app has up to \(AppNotificationRepository.maxScheduled) notifications that wait")
        }
        guard let stored = try await notifications.insert(new, topicMembers: topic?.memberCount ?? 0) else {
            // A concurrent request with this key was committed since.
            guard let key = body.dedupeKey, let first = try await notifications.find(dedupeKey: key, of: app) else {
                throw APIError.requestInProgress
            }
            return (first, true)
        }
        // One without recipients has ended with its answer: see `SkipReason.noRecipient`.
        if !order.isScheduled, stored.accepted > 0 { try await OutboxRepository(transaction).append(try NewOutboxMessage(event)) }
        return (stored, false)
    }

    /// Returns the topic that a notification is for; nil for users.
    private func topic(of order: AppNotificationOrder, in transaction: PostgresTransaction) async throws -> Topic? {
        guard let text = order.body.topic else { return nil }
        let name = TopicName(text)
        guard let name, let topic = try await TopicRepository(transaction).find(name, ownedBy: order.service.app) else {
            throw APIError.topicNotFound
        }
        return topic
    }
}

extension APIError {
    fileprivate static let notificationNotFound = APIError(.notificationNotFound, "Notification not found")
}
