public import FoundationEssentials
internal import PostgresClient
public import Push
public import WireFormat

/// A notification for a topic, or for a list of users, whose deliveries are being planned: a row of `topic_fan_outs` with columns of its
/// notification.
public struct TopicFanOut: Sendable, Equatable {
    /// The notification.
    public let notificationID: UUID
    /// The topic's id; a later topic of the same name has another. Nil for the list of users of the `app_notifications` row.
    public let topicID: UUID?
    /// The member who gets no push.
    public let exceptUserID: UUID?
    /// The user whose message or photo it shows: members who block that user get no push.
    public let senderID: UUID?
    /// The last member whose deliveries are planned.
    public let afterUserID: UUID?
    /// The number of planned deliveries.
    public let deliveryCount: Int
    /// The number of settled deliveries.
    public let endedDeliveries: Int
    /// The notification's lane.
    public let lane: Lane
    /// The notification's state.
    public let state: NotificationRecord.State
    /// When the notification expires.
    public let expiresAt: Date
    /// The request that led to it.
    public let requestID: String?
    /// The trace it belongs to.
    public let traceparent: String?

    init(row: PostgresRow) throws(PostgresError) {
        notificationID = try row.decode("notification_id")
        topicID = try row.decode("topic_id")
        exceptUserID = try row.decode("except_user_id")
        senderID = try row.decode("sender_id")
        afterUserID = try row.decode("after_user_id")
        deliveryCount = try row.decode("delivery_count")
        endedDeliveries = Int(try row.decode("ended_deliveries", as: Int32.self))
        lane = try row.decodeCase("lane")
        state = try row.decodeCase("state")
        expiresAt = try row.decode("expires_at")
        requestID = try row.decode("request_id")
        traceparent = try row.decode("traceparent")
    }
}

/// A part of a fan-out: some members, and the pages of the deliveries to their installations.
public struct TopicFanOutPart: Sendable {
    /// The number of members.
    public internal(set) var memberCount = 0
    /// The last member; nil when the part has no member.
    public internal(set) var lastUserID: UUID?
    /// The pages; empty when no installation of these members is reachable.
    public internal(set) var pages: [AddressedPage] = []
}
