public import FoundationEssentials
public import PostgresClient
internal import Push
public import WireFormat

/// Reads and writes `topic_fan_outs`, and creates the pages of fan-outs.
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
    ///   - senderID: The user whose message or photo it shows: members who block that user get no push.
    public func begin(notificationID: UUID, topicID: UUID?, except: UUID? = nil, senderID: UUID? = nil) async throws(PostgresError) {
        try await db.enqueue(
            """
            INSERT INTO topic_fan_outs (notification_id, topic_id, except_user_id, sender_id)
            VALUES (\(notificationID), \(topicID), \(except), \(senderID))
            ON CONFLICT DO NOTHING
            """)
        db.wakeListeners(on: Self.channel)
    }

    /// Locks the fan-out of a lane that has waited longest for its next part until the transaction ends. Skips fan-outs that other
    /// transactions have locked. Nil when no fan-out is waiting.
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

    /// Creates the deliveries to the next members of a fan-out, in the order of their ids, as pages: to their installations that are
    /// reachable on its lane, but not to the member who gets no push, and not to members who block the sender.
    ///
    /// It is one statement, so that neither members nor installations are sent to this process and back. Call it in the transaction of
    /// ``advance(_:after:deliveries:)`` or ``end(_:)``, so that a member is on one page of a notification only. An installation that passes
    /// from one member to another meanwhile may be on two pages: the push to the first member is not sent any more.
    ///
    /// - Parameter limit: The most members; each has up to ``PushInstallLimits/maxPerUser`` installations.
    public func addPages(of fanOut: TopicFanOut, limit: Int) async throws(PostgresError) -> TopicFanOutPart {
        let (members, id) =
            fanOut.topicID.map { ("topic_members WHERE topic_id", $0) }
            ?? ("app_notifications, unnest(user_ids) AS u (user_id) WHERE id", fanOut.notificationID)
        // With a comparison with NULL or an OR, a generic plan could not start the index scan at the right key.
        let after = fanOut.afterUserID ?? UUID.beforeAll
        let mostPages = (limit * PushInstallLimits.maxPerUser + DeliveryPage.maxMembers - 1) / DeliveryPage.maxMembers
        let rows = try await db.query(
            """
            WITH members AS MATERIALIZED (
                SELECT user_id FROM \(unescaped: members) = \(id) AND user_id > \(after) ORDER BY user_id LIMIT \(limit)
            ), addressed AS (
                SELECT array_agg(id) AS ids, array_agg(generation) AS generations, array_agg(user_id) AS users FROM (
                    SELECT i.id, i.generation, i.user_id
                    FROM members m CROSS JOIN LATERAL (\(unescaped: InstallAddress.ofMember)) i
                    WHERE \(unescaped: InstallAddress.isReachable(on: fanOut.lane))
                      AND m.user_id IS DISTINCT FROM \(fanOut.exceptUserID)
                      AND m.user_id NOT IN (SELECT user_id FROM user_blocks WHERE blocked_id = \(fanOut.senderID))
                    ORDER BY m.user_id) i
            ), pages AS (
                INSERT INTO delivery_pages (id, notification_id, lane, first_user_id, last_user_id, install_ids, generations, accepted,
                                            detached, due_at)
                SELECT page_id, \(fanOut.notificationID), \(fanOut.lane.rawValue), users[first], users[last], ids[first:last],
                       generations[first:last], none, none,
                       now() + make_interval(secs => \(DeliveryPageRepository.eventAge / .seconds(1)))
                FROM addressed CROSS JOIN unnest(\((0..<mostPages).map { _ in DeliveryPage.makeID() })) WITH ORDINALITY AS p (page_id, n)
                CROSS JOIN LATERAL (
                    SELECT ((n - 1) * \(DeliveryPage.maxMembers) + 1)::integer AS first,
                           least(n * \(DeliveryPage.maxMembers), coalesce(cardinality(ids), 0))::integer AS last) range
                CROSS JOIN LATERAL (SELECT repeat('0', last - first + 1)::varbit AS none) bits
                WHERE first <= last
                RETURNING id, cardinality(install_ids) AS size
            )
            SELECT (SELECT count(*) FROM members) AS member_count,
                   (SELECT user_id FROM members ORDER BY user_id DESC LIMIT 1) AS last_user_id, p.id, p.size
            FROM (SELECT) AS once LEFT JOIN pages p ON true
            """)
        var part = TopicFanOutPart()
        for row in rows {
            part.memberCount = try row.decode("member_count")
            part.lastUserID = try row.decode("last_user_id")
            guard let id = try row.decode("id", as: UUID?.self) else { continue }
            part.pages.append(AddressedPage(id: id, count: Int(try row.decode("size", as: Int32.self))))
        }
        return part
    }

    /// Whether a member who blocks the sender could be reached: a fan-out without deliveries reached no other member.
    public func reachesBlockers(_ fanOut: TopicFanOut) async throws(PostgresError) -> Bool {
        guard let topicID = fanOut.topicID, let senderID = fanOut.senderID else { return false }
        let rows = try await db.query(
            """
            SELECT m.user_id FROM user_blocks b JOIN topic_members m ON m.topic_id = \(topicID) AND m.user_id = b.user_id
            CROSS JOIN LATERAL (\(unescaped: InstallAddress.ofMember)) i
            WHERE b.blocked_id = \(senderID) AND m.user_id IS DISTINCT FROM \(fanOut.exceptUserID)
              AND \(unescaped: InstallAddress.isReachable(on: fanOut.lane))
            LIMIT 1
            """)
        return !rows.isEmpty
    }

    /// Defers the next part of a fan-out.
    public func deferFanOut(_ fanOut: TopicFanOut, for wait: Duration) async throws(PostgresError) {
        try await db.enqueue(
            """
            UPDATE topic_fan_outs SET turn_at = clock_timestamp() + make_interval(secs => \(wait / .seconds(1)))
            WHERE notification_id = \(fanOut.notificationID)
            """)
    }

    /// Records that a part is planned, and lets other fan-outs go first.
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
