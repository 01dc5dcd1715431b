internal import EventBus
internal import FoundationEssentials
internal import HTTPTypes
internal import Hummingbird
internal import JSON
internal import Metrics
internal import PostgresClient
internal import Push
internal import Storage
internal import WireFormat

/// Answers `POST /v1/notifications`, and `GET` and `DELETE /v1/notifications/{id}`, for apps' own servers.
///
/// A notification is one row and one event, however many recipients it has: token-registry plans its pushes like those of any other
/// notification; quota, pacing, suppression, badges, the ledger and receipts do not differ.
struct AppNotificationController: Sendable {
    /// The maximum size of the JSON: 1,000 ids, and texts and data whose every byte is escaped.
    static let maxBodyBytes = 128 * 1_024

    let postgres: PostgresClient
    let keys: AccountKeys
    let services: ServiceAuthenticator

    /// Requests a notification once: a repetition with the same dedupe key gets the first answer.
    func post(_ request: Request, _ context: APIRequestContext) async throws -> Response {
        let service = try await services.identify(request, for: .notify)
        let body = try AppNotificationBody(try await JSONBody(of: request, upTo: Self.maxBodyBytes, context))
        let order = try AppNotificationOrder(body, by: service)
        let fingerprints = try order.fingerprints(keys)
        let (stored, isReplay) = try await postgres.withTransaction { transaction in
            try await write(order, fingerprints[0], context, in: transaction)
        }
        guard fingerprints.contains(stored.fingerprint) else {
            throw APIError(.idempotencyKeyReused, "The key was used for another notification", field: "dedupe_key")
        }
        var response = Answer.json(Self.accepted(stored, context.requestID), status: .accepted)
        if isReplay {
            response.headers[.idempotentReplayed] = "true"
        } else {
            Counter(label: "app_notifications_total", dimensions: [("when", order.isScheduled ? "later" : "now")]).increment()
        }
        return response
    }

    /// Answers with the state of a notification.
    func get(_ request: Request, _ context: APIRequestContext) async throws -> Response {
        let service = try await services.identify(request, for: .notify)
        let notifications = AppNotificationRepository(postgres)
        guard let found = try await notifications.find(id: try context.notificationID(), of: service.app) else {
            throw APIError.notificationNotFound
        }
        let counts = try await notifications.counts(of: found.id)
        return Answer.json(Self.state(found, counts, context.requestID))
    }

    /// Cancels a notification that is not due yet.
    func cancel(_ request: Request, _ context: APIRequestContext) async throws -> Response {
        let service = try await services.identify(request, for: .notify)
        let (id, notifications) = (try context.notificationID(), AppNotificationRepository(postgres))
        if try await notifications.cancel(id: id, of: service.app) { return Response(status: .noContent) }
        guard let found = try await notifications.find(id: id, of: service.app) else { throw APIError.notificationNotFound }
        guard found.state == .cancelled else { throw APIError(.alreadySent, "The notification was due, and is on its way") }
        return Response(status: .noContent)
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

extension AppNotificationController {
    /// The 202 of a notification; a repetition gets the same.
    private static func accepted(_ notification: AppNotification, _ requestID: String) -> JSONValue {
        let isScheduled = notification.notBefore > notification.createdAt
        return Answer.data(
            .members(
                ("notification_id", .string(notification.id.wireString)), ("state", isScheduled ? "scheduled" : "requested"),
                ("accepted", .integer(notification.accepted)), ("unknown", .integer(notification.unknown)),
                ("not_before", .string(Answer.timestamp(notification.notBefore))),
                ("expires_at", .string(Answer.timestamp(notification.expiresAt)))),
            requestID)
    }

    private static func state(_ notification: AppNotification, _ counts: AppNotificationCounts, _ requestID: String) -> JSONValue {
        let receipts = Receipt.Event.allCases.map { JSONValue.Member($0.rawValue, .integer(counts.receipts[$0] ?? 0)) }
        let ended: NotificationRecord.State? = notification.hasNoRecipient ? .skipped : nil
        return Answer.data(
            .members(
                ("notification_id", .string(notification.id.wireString)), ("kind", .string(notification.kind)),
                ("state", .string((counts.state ?? ended)?.rawValue ?? notification.state.rawValue)),
                ("skip_reason", (counts.skipReason ?? ended.map { _ in SkipReason.noRecipient.rawValue }).map { .string($0) }),
                ("accepted", .integer(notification.accepted)), ("unknown", .integer(notification.unknown)),
                ("created_at", .string(Answer.timestamp(notification.createdAt))),
                ("not_before", .string(Answer.timestamp(notification.notBefore))),
                ("expires_at", .string(Answer.timestamp(notification.expiresAt))),
                (
                    "pushes",
                    .members(
                        ("requested", .integer(counts.requested)), ("pending", .integer(counts.pending)),
                        ("accepted", .integer(counts.accepted)), ("skipped", .integer(counts.skipped)),
                        ("failed", .integer(counts.failed)))
                ),
                ("receipts", .object(receipts))),
            requestID)
    }
}

extension APIRequestContext {
    /// The notification in the path.
    fileprivate func notificationID() throws(APIError) -> UUID {
        guard let id = UUID(wireString: parameters.get("id") ?? "") else {
            throw APIError(.invalidRequest, "A notification is named by a UUID", field: "notification_id")
        }
        return id
    }
}

extension APIError {
    fileprivate static let notificationNotFound = APIError(.notificationNotFound, "Notification not found")
}
