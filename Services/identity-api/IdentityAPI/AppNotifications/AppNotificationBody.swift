internal import FoundationEssentials
internal import JSON
internal import Push
internal import WireFormat

/// A validated notification of an app's own server, as requested: its content, recipients and time.
///
/// Its JSON form has sorted keys and no absent members, so a repetition of the request has the same form.
struct AppNotificationBody: JSONObjectBody, Encodable {
    /// The most characters of a title, and of a body, as a reader counts them.
    static let maxTitleCharacters = 100, maxBodyCharacters = 400
    /// The maximum size of a text in bytes for each of its characters, because a character may have any number of them.
    static let maxBytesPerCharacter = 8
    /// The maximum size of the data as JSON: more would not leave room for the texts in FCM's 4 KB.
    static let maxDataBytes = 2_048
    /// The maximum number of characters of names: of sounds, threads, keys.
    static let maxNameLength = 64
    static let maxDedupeKeyLength = 128

    static let fields = BodyFields<AppNotificationBody>(.recipients, .content, .delivery) { recipients, content, delivery in
        AppNotificationBody(
            content: content, userIDs: recipients.userIDs, topic: recipients.topic, lane: delivery.lane, dedupeKey: delivery.dedupeKey,
            notBefore: delivery.notBefore, expiresAt: delivery.expiresAt)
    }
    /// 1,000 ids, and texts and data whose every byte is escaped.
    static let maxBytes = 128 * 1_024
    /// The sender is a server of the app, and not an app of a later version: an unknown field is a misspelt one.
    static let allowsUnknownFields = false
    static let example: JSONValue? = [
        "kind": "order.shipped", "user_ids": ["3f6c1a9e-5d1b-4a0e-8f7c-2b9d4e6a8c10"], "title": "On its way",
        "body": "Parcel 7 arrives today",
        "data": ["order": "7"], "collapse_key": "order-7", "dedupe_key": "order-7-shipped", "lane": "normal",
    ]

    let content: AppContent
    /// The users, without repetitions; empty for a topic.
    let userIDs: [UUID]
    let topic: String?
    let lane: Lane?
    let dedupeKey: String?
    let notBefore: Date?
    let expiresAt: Date?
}

/// The recipients of a notification: users, or the members of a topic.
private struct AppRecipients: Sendable {
    let userIDs: [UUID]
    let topic: String?
}

/// The way in which a notification is sent.
private struct AppDelivery: Sendable {
    let dedupeKey: String?
    let notBefore: Date?
    let expiresAt: Date?
    let lane: Lane?
}

extension BodyFields<AppRecipients> {
    fileprivate static let recipients = BodyFields(.someUserIDs, .someTopic) { userIDs, topic throws(APIError) in
        let users = userIDs ?? []
        guard topic == nil || users.isEmpty else {
            throw APIError(.invalidRequest, "A notification is for user_ids, or for a topic", field: "user_ids")
        }
        guard topic != nil || userIDs != nil else { throw APIError(.missingField, "A field is missing", field: "user_ids") }
        guard topic != nil || !users.isEmpty else {
            throw APIError(.invalidRequest, "Name a topic or at least one user", field: "user_ids")
        }
        return AppRecipients(userIDs: users, topic: topic)
    }
}

extension BodyFields<AppDelivery> {
    fileprivate static let delivery = BodyFields(
        .dedupeKey, .optionalInstant("not_before"), .optionalInstant("expires_at"), .lane
    ) { AppDelivery(dedupeKey: $0, notBefore: $1, expiresAt: $2, lane: $3) }
}

extension BodyFields<AppContent> {
    fileprivate static let content = BodyFields(.appKind, .texts, .look) { kind, texts, look throws(APIError) in
        let content = AppContent(
            kind: kind, title: texts.title, body: texts.body, data: texts.data, image: look.image, sound: look.sound, thread: look.thread,
            collapseKey: look.collapseKey)
        guard content.isShown || (content.image == nil && content.sound == nil && content.thread == nil) else {
            throw APIError(.missingField, "A push that is shown has a title or a body", field: "title")
        }
        return content
    }
}
