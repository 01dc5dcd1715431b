public import FoundationEssentials
public import PostgresClient
public import WireFormat

/// Reads and writes `topic_fan_outs`.
public struct TopicFanOutRepository: Sendable {
    /// The in-process channel on which a commit wakes the tasks that continue fan-outs.
    public static let channel = "heliograph_topic_fan_outs"

    let db: any PostgresQueryable

    /// Works on a client or inside a transaction.
    public init(_ db: some PostgresQueryable) {
        self.db = db
    }

    /// Begins a fan-out. Call in the transaction that inserts the notification.
    ///
    /// - Parameters:
    ///   - topicID: The topic's id; a later topic of the same name has another. Nil for the recipients of an `app_notifications` row.
    ///   - except: The member who gets no push.
    ///   - senderID: The user of whom it shows something: members who block them get no push.
    public func begin(notificationID: UUID, topicID: UUID?, except: UUID? = nil, senderID: UUID? = nil) async throws(PostgresError) {
        try await db.enqueue(
            """
            INSERT INTO topic_fan_outs (notification_id, topic_id, except_user_id, sender_id)
            VALUES (\(notificationID), \(topicID), \(except), \(senderID))
            ON CONFLICT DO NOTHING
            """)
        db.wakeListeners(on: Self.channel)
    }

    /// Locks the fan-out of a lane that has waited longest for its next page until the transaction ends. Skips fan-outs that other
    /// transactions have locked. Nil when none is waiting.
    public func next(on lane: Lane) async throws(PostgresError) -> TopicFanOut? {
        let rows = try await db.query(
            """
            SELECT f.*, n.lane, n.state, n.expires_at, n.ended_deliveries, n.request_id, n.traceparent
            FROM topic_fan_outs f JOIN notifications n ON n.id = f.notification_id
            WHERE f.turn_at <= now() AND n.lane = \(lane.rawValue)
            ORDER BY f.turn_at LIMIT 1 FOR UPDATE OF f SKIP LOCKED
            """)
        return try rows.first.map(TopicFanOut.init(row:))
    }

    /// Returns the next members of a fan-out in the order of their ids, including the member who gets no push, and their
    /// installations without dead ones; those of members who block the sender are left out.
    ///
    /// - Parameter limit: The most members; each has up to ``PushInstallLimits/maxPerUser`` installations.
    public func page(of fanOut: TopicFanOut, limit: Int) async throws(PostgresError) -> TopicFanOutPage {
        // With a comparison with NULL or an OR, a generic plan could not start the index scan at the right key.
        let after = fanOut.afterUserID ?? UUID.beforeAll
        let query: PostgresQuery =
            if let topicID = fanOut.topicID {
                """
                SELECT m.user_id AS member_id, \(unescaped: InstallAddress.columns)
                FROM (SELECT user_id FROM topic_members WHERE topic_id = \(topicID) AND user_id > \(after)
                      ORDER BY user_id LIMIT \(limit)) m
                LEFT JOIN LATERAL (\(unescaped: InstallAddress.ofMember)) i
                    ON m.user_id NOT IN (SELECT user_id FROM user_blocks WHERE blocked_id = \(fanOut.senderID))
                ORDER BY m.user_id
                """
            } else {
                """
                SELECT m.user_id AS member_id, \(unescaped: InstallAddress.columns)
                FROM (SELECT user_id FROM app_notifications n, unnest(n.user_ids) AS u (user_id)
                      WHERE n.id = \(fanOut.notificationID) AND user_id > \(after) ORDER BY user_id LIMIT \(limit)) m
                LEFT JOIN LATERAL (\(unescaped: InstallAddress.ofMember)) i ON true
                ORDER BY m.user_id
                """
            }
        var page = TopicFanOutPage()
        for row in try await db.query(query.readOnly()) {
            let member = try row.decode("member_id", as: UUID.self)
            if member != page.lastUserID { page.memberCount += 1 }
            page.lastUserID = member
            if try row.decode("id", as: UUID?.self) != nil { page.addresses.append(try InstallAddress(row: row)) }
        }
        return page
    }

    /// Defers the next page of a fan-out.
    public func deferFanOut(_ fanOut: TopicFanOut, for wait: Duration) async throws(PostgresError) {
        try await db.enqueue(
            """
            UPDATE topic_fan_outs SET turn_at = clock_timestamp() + make_interval(secs => \(wait / .seconds(1)))
            WHERE notification_id = \(fanOut.notificationID)
            """)
    }

    /// Records that a page is planned, and lets other fan-outs go first.
    public func advance(_ fanOut: TopicFanOut, after userID: UUID, deliveries: Int) async throws(PostgresError) {
        try await db.enqueue(
            """
            UPDATE topic_fan_outs
            SET after_user_id = \(userID), delivery_count = delivery_count + \(deliveries), turn_at = clock_timestamp()
            WHERE notification_id = \(fanOut.notificationID)
            """)
    }

    /// Ends a fan-out.
    public func end(_ notificationID: UUID) async throws(PostgresError) {
        try await db.enqueue("DELETE FROM topic_fan_outs WHERE notification_id = \(notificationID)")
    }
}
