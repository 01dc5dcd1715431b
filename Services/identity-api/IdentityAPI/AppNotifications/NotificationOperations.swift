internal import Accounts
internal import FoundationEssentials
internal import HTTPTypes
internal import Hummingbird

extension APIOperation {
    /// The notifications of an app's own server.
    static let notifications: [APIOperation] = [
        APIOperation(
            .post, "/v1/notifications", id: "postNotification", area: .notifications,
            summary: "Sends a push to `user_ids`, or to the members of a `topic`, also at a later time", from: .service(.notify),
            reply: .repeatable(
                .data(
                    "The notification is taken", status: .accepted,
                    links: ["getNotification", "cancelNotification"].map {
                        APILink(operation: $0, parameter: "id", member: "notification_id")
                    })),
            errors: [.topicNotFound, .limitReached, .requestInProgress, .idempotencyKeyReused],
            repetition: "by `dedupe_key`; without one another push", handler: { $0.notifications.post }),
        APIOperation(
            .get, APITarget("/v1/notifications/{id}", .notification), id: "getNotification", area: .notifications,
            summary: "The state of a notification, and the numbers of its pushes and receipts", from: .service(.notify),
            reply: .data("The notification"), errors: [.notificationNotFound], handler: { $0.notifications.get }),
        APIOperation(
            .delete, APITarget("/v1/notifications/{id}", .notification), id: "cancelNotification", area: .notifications,
            summary: "Cancels a notification that is not due", from: .service(.notify), reply: .noContent("The notification is not sent"),
            errors: [.notificationNotFound, .alreadySent], handler: { $0.notifications.cancel }),
    ]
}

extension APIArgument<UUID> {
    fileprivate static let notification = id(
        "id", "The notification's id",
        or: APIError(.invalidRequest, "A notification is named by a UUID", field: "notification_id"))
}
