internal import FoundationEssentials
internal import JSON
internal import Push

/// The reply to the request of a notification; a repetition gets the same.
struct AcceptedNotification: APIObject {
    enum State: String, APIWord { case scheduled, requested }

    static let members: [APIMember<AcceptedNotification>] = [
        .required("notification_id", \.notification.id), .required("state", \.state), .required("accepted", \.notification.accepted),
        .required("unknown", \.notification.unknown), .required("not_before", \.notification.notBefore),
        .required("expires_at", \.notification.expiresAt),
    ]

    let notification: AppNotification
    private var state: State { notification.notBefore > notification.createdAt ? .scheduled : .requested }

    init(notification: AppNotification) { self.notification = notification }
}

/// The state of a notification, with the numbers of its pushes and receipts.
struct NotificationReply: APIObject {
    static let members: [APIMember<NotificationReply>] = [
        .required("notification_id", \.notification.id), .required("kind", \.notification.kind), .required("state", \.state),
        .optional("skip_reason", \.skipReason), .required("accepted", \.notification.accepted),
        .required("unknown", \.notification.unknown), .required("created_at", \.notification.createdAt),
        .required("not_before", \.notification.notBefore), .required("expires_at", \.notification.expiresAt),
        .required("pushes", \.counts), .required("receipts", \.receipts),
    ]

    let notification: AppNotification
    let counts: AppNotificationCounts

    private var ended: NotificationRecord.State? { notification.hasNoRecipient ? .skipped : nil }
    private var state: String { (counts.state ?? ended)?.rawValue ?? notification.state.rawValue }
    private var skipReason: String? { counts.skipReason ?? ended.map { _ in SkipReason.noRecipient.rawValue } }
    private var receipts: ReceiptCounts { ReceiptCounts(counts: counts.receipts) }

    init(notification: AppNotification, counts: AppNotificationCounts) {
        (self.notification, self.counts) = (notification, counts)
    }
}

/// The numbers of pushes.
extension AppNotificationCounts: APIObject {
    static let members: [APIMember<AppNotificationCounts>] = [
        .required("requested", \.requested), .required("pending", \.pending), .required("accepted", \.accepted),
        .required("skipped", \.skipped), .required("failed", \.failed),
    ]
}

/// The numbers of receipts, by their events.
struct ReceiptCounts: APIValue {
    static let schema = JSONSchema.object(Receipt.Event.allCases.map { ($0.rawValue, .count) }, optional: [])

    let counts: [Receipt.Event: Int]
    var json: JSONValue { .object(Receipt.Event.allCases.map { JSONValue.Member($0.rawValue, .integer(counts[$0] ?? 0)) }) }
}
