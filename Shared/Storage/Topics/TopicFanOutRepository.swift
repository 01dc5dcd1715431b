public import FoundationEssentials
public import PostgresClient
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
        lane = try row.decodeCase("lane")
        state = try row.decodeCase("state")
        expiresAt = try row.decode("expires_at")
        requestID = try row.decode("request_id")
        traceparent = try row.decode("traceparent")
    }
}

/// Reads and writes `topic_fan_outs`.
public struct TopicFanOutRepository: Sendable {
    let db: any PostgresQueryable

    /// Works on a client or inside a transaction.
    public init(_ db: some PostgresQueryable) {
        self.db = db
    }

    /// Begins a fan-out. Belongs in the transaction that inserts the notification.
    ///
    /// - Parameters:
    ///   - except: The member who is left out.
    ///   - requestID: The request that led to it.
    ///   - traceparent: The trace it belongs to.
    public func begin(
        notificationID: UUID, topicID: UUID, except: UUID?, requestID: String?, traceparent: String?
    ) async throws(PostgresError) {
        try await db.execute(
            """
            INSERT INTO topic_fan_outs (notification_id, topic_id, except_user_id, request_id, traceparent)
            VALUES (\(notificationID), \(topicID), \(except), \(requestID), \(traceparent))
            ON CONFLICT DO NOTHING
            """)
    }

    /// Takes the fan-out that has waited longest for its next page; it is locked until the transaction ends, and those that
    /// somebody else has locked are passed over. Nil when there is none.
    public func next() async throws(PostgresError) -> TopicFanOut? {
        let rows = try await db.query(
            """
            SELECT f.*, n.lane, n.state, n.expires_at FROM topic_fan_outs f JOIN notifications n ON n.id = f.notification_id
            ORDER BY f.turn_at LIMIT 1 FOR UPDATE OF f SKIP LOCKED
            """)
        return try rows.first.map { row throws(PostgresError) in try TopicFanOut(row: row) }
    }

    /// Returns the members of a fan-out's next page, in the order of their ids, the one who is left out among them.
    public func page(of fanOut: TopicFanOut, limit: Int) async throws(PostgresError) -> [UUID] {
        let query: PostgresQuery = """
            SELECT user_id FROM topic_members
            WHERE topic_id = \(fanOut.topicID) AND (\(fanOut.afterUserID)::uuid IS NULL OR user_id > \(fanOut.afterUserID))
            ORDER BY user_id LIMIT \(limit)
            """
        return try await db.query(query.readOnly()).map { row throws(PostgresError) in try row.decode("user_id") }
    }

    /// Notes that a page is done, and lets others have their turn.
    public func advance(_ fanOut: TopicFanOut, after userID: UUID, deliveries: Int) async throws(PostgresError) {
        try await db.execute(
            """
            UPDATE topic_fan_outs
            SET after_user_id = \(userID), delivery_count = delivery_count + \(deliveries), turn_at = clock_timestamp()
            WHERE notification_id = \(fanOut.notificationID)
            """)
    }

    /// Ends a fan-out.
    public func end(_ notificationID: UUID) async throws(PostgresError) {
        try await db.execute("DELETE FROM topic_fan_outs WHERE notification_id = \(notificationID)")
    }
}
