public import FoundationEssentials
internal import PostgresClient
public import WireFormat

/// A notification for a topic whose deliveries are being made: a row of `topic_fan_outs`, with what it needs of the
/// notification.
public struct TopicFanOut: Sendable, Equatable {
    /// The notification.
    public let notificationID: UUID
    /// The topic it began with; one that takes its name later is another.
    public let topicID: UUID
    /// The member who is left out.
    public let exceptUserID: UUID?
    /// The last member who was looked at.
    public let afterUserID: UUID?
    /// How many deliveries were made.
    public let deliveryCount: Int
    /// How many of them have ended.
    public let endedDeliveries: Int
    /// The notification's lane.
    public let lane: Lane
    /// Where the notification is.
    public let state: NotificationRecord.State
    /// When it is no longer worth telling.
    public let expiresAt: Date
    /// The request that led to it.
    public let requestID: String?
    /// The trace it belongs to.
    public let traceparent: String?

    init(row: PostgresRow) throws(PostgresError) {
        notificationID = try row.decode("notification_id")
        topicID = try row.decode("topic_id")
        exceptUserID = try row.decode("except_user_id")
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

/// Some members of a topic and their installations.
public struct TopicFanOutPage: Sendable {
    /// How many members there are.
    public internal(set) var memberCount = 0
    /// The last of them; nil when there is none.
    public internal(set) var lastUserID: UUID?
    /// Their installations.
    public internal(set) var addresses: [InstallAddress] = []
}
