public import FoundationEssentials
public import PostgresClient
internal import WireFormat

/// The data of a conversation's message for an operator's question about its push.
public struct PushedMessage: Sendable {
    /// The notification that was requested with it, unless its sender was alone.
    public let notificationID: UUID
    /// The name of the conversation.
    public let conversation: String
    /// When it was posted.
    public let createdAt: Date
    /// Whether another user is known to have been a member then: a present member, or one who left later.
    public let hadOthers: Bool
    /// When the last other user had left before, or had declined an invitation; nil if there was no such user. Users whom the owner removed
    /// are not stored.
    public let lastLeftAt: Date?
}

/// A row that belongs to the id that an operator has named, with the request that made it.
public struct TracedThing: Sendable, Equatable {
    /// The table of the row.
    public enum Kind: String, Sendable, CaseIterable {
        case imageJob = "image_job"
        case session, notification
        case appNotification = "app_notification"
    }

    /// The table of the row.
    public let kind: Kind
    /// The id of the row.
    public let id: UUID
    /// The `X-Request-ID` of the request; nil when it is not known.
    public let requestID: String?
}

extension PushInquiryRepository {
    /// The dedupe keys of the notifications about a thing with an id, even if its row does not exist any more, such as an image job, a
    /// session or the hand-over of a phone.
    public static func dedupeKeys(about id: UUID) -> [String] {
        let kinds = NotificationKind.allCases.compactMap { $0.type as? any PushAboutThing.Type }
        return Set(kinds.map { $0.dedupeKey(about: id) }).sorted()
    }

    /// Returns the messages with an id of the app, one for each conversation that has one.
    public func messages(id: String) async throws(PostgresError) -> [PushedMessage] {
        let query: PostgresQuery = """
            SELECT c.notification_id, t.name, c.created_at,
                   EXISTS (SELECT FROM topic_members m
                           WHERE m.topic_id = c.topic_id AND m.joined_at <= c.created_at AND m.user_id <> c.sender_id)
                   OR EXISTS (SELECT FROM topic_leavers l
                              WHERE l.topic_id = c.topic_id AND l.left_at > c.created_at AND l.user_id <> c.sender_id) AS had_others,
                   (SELECT max(l.left_at) FROM topic_leavers l
                    WHERE l.topic_id = c.topic_id AND l.left_at <= c.created_at AND l.user_id <> c.sender_id) AS last_left_at
            FROM conversation_messages c JOIN topics t ON t.id = c.topic_id WHERE c.message_id = \(id) ORDER BY c.created_at
            """
        return try await db.query(query.readOnly()).map { row throws(PostgresError) in
            PushedMessage(
                notificationID: try row.decode("notification_id"), conversation: try row.decode("name"),
                createdAt: try row.decode("created_at"), hadOthers: try row.decode("had_others"),
                lastLeftAt: try row.decode("last_left_at"))
        }
    }

    /// Returns the image job, the session and the notifications with this id or about it, and the notifications of the messages with this
    /// id.
    ///
    /// - Parameter text: A UUID, or the app's id of a message.
    public func tracedThings(of text: String) async throws(PostgresError) -> [TracedThing] {
        let id = UUID(wireString: text.lowercased())
        let keys = id.map(Self.dedupeKeys(about:)) ?? []
        let query: PostgresQuery = """
            SELECT 'image_job' AS kind, id, request_id FROM image_jobs WHERE id = \(id)
            UNION SELECT 'session', id, request_id FROM sessions WHERE id = \(id)
            UNION SELECT 'notification', id, request_id FROM notifications WHERE id = \(id)
            UNION SELECT 'notification', id, request_id FROM notifications WHERE dedupe_key = ANY(\(keys))
            UNION SELECT 'app_notification', id, request_id FROM app_notifications WHERE id = \(id)
            UNION SELECT 'notification', n.id, n.request_id
                  FROM conversation_messages c JOIN notifications n ON n.id = c.notification_id WHERE c.message_id = \(text)
            """
        return try await db.query(query.readOnly()).map { row throws(PostgresError) in
            TracedThing(kind: try row.decodeCase("kind"), id: try row.decode("id"), requestID: try row.decode("request_id"))
        }
    }
}
