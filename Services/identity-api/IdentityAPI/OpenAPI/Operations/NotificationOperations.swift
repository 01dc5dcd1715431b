internal import HTTPTypes
internal import Hummingbird
internal import JSON
internal import Storage
internal import WireFormat

extension APIOperation {
    /// The notifications of an app's own server.
    static let notifications: [APIOperation] = [
        APIOperation(
            method: .post, path: "/v1/notifications", id: "postNotification", area: .notifications,
            summary: "Sends a push to `user_ids`, or to the members of a `topic`, also at a later time", bearers: [notify],
            body: .json(notificationRequest, upTo: AppNotificationController.maxBodyBytes, example: example),
            replies: [
                .data(
                    .object([
                        "notification_id": .uuid, "state": .one(of: ["scheduled", "requested"]), "accepted": .count, "unknown": .count,
                        "not_before": .instant, "expires_at": .instant,
                    ]), status: 202, "The notification is taken", headers: [.idempotentReplayed],
                    links: ["getNotification", "cancelNotification"].map {
                        APILink(operation: $0, parameter: "id", member: "notification_id")
                    })
            ],
            errors: [.topicNotFound, .limitReached, .requestInProgress, .idempotencyKeyReused],
            repetition: "by `dedupe_key`; without one another push", handler: { $0.notifications.post }),
        APIOperation(
            method: .get, path: "/v1/notifications/{id}", id: "getNotification", area: .notifications,
            summary: "The state of a notification, and the numbers of its pushes and receipts", bearers: [notify],
            parameters: [.id("id", "The notification's id")], replies: [.data(state, "The notification")],
            errors: [.notificationNotFound], handler: { $0.notifications.get }),
        APIOperation(
            method: .delete, path: "/v1/notifications/{id}", id: "cancelNotification", area: .notifications,
            summary: "Cancels a notification that is not due", bearers: [notify], parameters: [.id("id", "The notification's id")],
            replies: [.noContent("The notification is not sent")], errors: [.notificationNotFound, .alreadySent],
            handler: { $0.notifications.cancel }),
    ]

    private static let notify = APIBearer.key(scope: ServiceScope.notify.rawValue)
    private static let name = JSONSchema.text(1...AppNotificationBody.maxNameLength, pattern: "^[A-Za-z0-9_.:-]+$").orNull

    private static let example: JSONValue = [
        "kind": "order.shipped", "user_ids": ["3f6c1a9e-5d1b-4a0e-8f7c-2b9d4e6a8c10"], "title": "On its way",
        "body": "Parcel 7 arrives today",
        "data": ["order": "7"], "collapse_key": "order-7", "dedupe_key": "order-7-shipped", "lane": "normal",
    ]

    static let notificationRequest = JSONSchema.object(
        ["kind": .text(1...AppNotificationBody.maxNameLength, pattern: "^[a-z0-9_.-]+$")],
        optional: [
            "user_ids": .array(of: .uuid, upTo: AppNotification.maxRecipients).orNull, "topic": .topicName.orNull,
            "title": .text(0...AppNotificationBody.maxTitleCharacters).orNull,
            "body": .text(0...AppNotificationBody.maxBodyCharacters).orNull,
            "data": .map(of: .text).orNull.described("What the app gets with the push, as texts"),
            "image": .text(0...PictureAddress.maxBytes, pattern: "^https://").orNull, "sound": name, "thread": name,
            "collapse_key": name, "dedupe_key": .text(1...AppNotificationBody.maxDedupeKeyLength).orNull,
            "not_before": .instant.orNull, "expires_at": .instant.orNull, "lane": .one(of: Lane.self).orNull,
        ])

    private static let state = JSONSchema.object(
        [
            "notification_id": .uuid, "kind": .text, "state": .text, "accepted": .count, "unknown": .count, "created_at": .instant,
            "not_before": .instant, "expires_at": .instant,
            "pushes": .object([
                "requested": .count, "pending": .count, "accepted": .count, "skipped": .count, "failed": .count,
            ]),
            "receipts": .object(Receipt.Event.allCases.map { ($0.rawValue, .count) }, optional: []),
        ],
        optional: ["skip_reason": .text])
}
