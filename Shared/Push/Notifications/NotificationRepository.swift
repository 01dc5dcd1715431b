public import FoundationEssentials
public import PostgresClient
internal import WireFormat

/// Reads and writes `notifications`.
public struct NotificationRepository: Sendable {
    let db: any PostgresQueryable

    /// SQL expression for `state` in queries by id. With the plain column, the planner would use the index of open notifications
    /// instead: it assumes that index to be almost empty, as it usually is, and reads all of it in a backlog (20,000 rows for 50 ids:
    /// 700 ms).
    private static let stateByID = "(state || '')"

    /// SQL assignments that erase the content, with the people whom it names.
    static let erased = "content = NULL, sender_id = NULL, account_id = NULL"

    /// Works on a client or inside a transaction.
    public init(_ db: some PostgresQueryable) {
        self.db = db
    }

    /// Inserts one notification.
    ///
    /// - Returns: Whether it is new; `false` when its id or its dedupe key exists.
    public func insert(_ new: NewNotification) async throws(PostgresError) -> Bool {
        try await insert([new]).contains(new.id)
    }

    /// Inserts notifications, except those whose id or dedupe key exists in the table or earlier in the batch.
    ///
    /// - Returns: The ids of the inserted notifications.
    public func insert(_ batch: [NewNotification]) async throws(PostgresError) -> Set<UUID> {
        guard !batch.isEmpty else { return [] }
        let references = batch.map { $0.content.push.references }
        let rows = try await db.query(
            """
            INSERT INTO notifications (id, dedupe_key, kind, recipient_type, recipient_id, lane, content, has_picture, job_id, topic_id,
                                       sender_id, account_id, session_id, request_id, traceparent, expires_at)
            SELECT id, dedupe_key, kind, recipient_type, recipient_id, lane, content, has_picture, job_id, topic_id, sender_id, account_id,
                   session_id, request_id, traceparent, expires_at
            FROM unnest(\(batch.map(\.id)), \(batch.map(\.dedupeKey)), \(batch.map(\.content.kind.rawValue)),
                        \(batch.map(\.recipient.type.rawValue)), \(batch.map(\.recipient.id)), \(batch.map(\.lane.rawValue)),
                        \(batch.map { $0.content.encoded() }), \(batch.map { $0.content.push.hasPicture }), \(references.map(\.jobID)),
                        \(references.map(\.topicID)), \(references.map(\.senderID)), \(references.map(\.accountID)),
                        \(references.map(\.sessionID)), \(batch.map(\.requestID)), \(batch.map(\.traceparent)),
                        \(batch.map(\.expiresAt))) WITH ORDINALITY
                AS n (id, dedupe_key, kind, recipient_type, recipient_id, lane, content, has_picture, job_id, topic_id, sender_id,
                      account_id, session_id, request_id, traceparent, expires_at, position)
            ORDER BY dedupe_key, position
            ON CONFLICT DO NOTHING
            RETURNING id
            """)
        return Set(try rows.column("id", as: UUID.self))
    }

    /// Returns notifications by id; unknown ids are omitted.
    public func find(ids: [UUID]) async throws(PostgresError) -> [NotificationRecord] {
        guard !ids.isEmpty else { return [] }
        let query: PostgresQuery = """
            SELECT \(unescaped: NotificationRecord.columns) FROM notifications WHERE id = ANY(\(ids))
            """
        let rows = try await db.query(query.readOnly())
        return try rows.map(NotificationRecord.init(row:))
    }

    /// Records that all deliveries of notifications are planned, and their number: `requested → addressed`.
    public func markAddressed(_ deliveryCounts: [UUID: Int]) async throws(PostgresError) {
        guard !deliveryCounts.isEmpty else { return }
        let counts = deliveryCounts.sorted { $0.key < $1.key }
        let ids = counts.map(\.key)
        try await db.enqueue(
            """
            UPDATE notifications SET state = 'addressed',
                delivery_count = (\(counts.map { Int32($0.value) }))[array_position(\(ids), id)]
            WHERE id = ANY(\(ids)) AND \(unescaped: Self.stateByID) = 'requested'
            """)
    }

    /// Skips notifications without deliveries: `requested → skipped`. Their content is erased.
    ///
    /// - Parameter ids: The notifications, all skipped for one reason.
    /// - Returns: The ids that this call skipped.
    @discardableResult
    public func markSkipped(_ ids: [UUID], reason: SkipReason) async throws(PostgresError) -> Set<UUID> {
        guard !ids.isEmpty else { return [] }
        let rows = try await db.query(
            """
            UPDATE notifications
            SET state = 'skipped', skip_reason = \(reason.rawValue), settled_at = now(), \(unescaped: Self.erased)
            WHERE id = ANY(\(ids)) AND \(unescaped: Self.stateByID) = 'requested'
            RETURNING id
            """)
        return Set(try rows.column("id", as: UUID.self))
    }

    /// Settles the given notifications that have no open delivery any more: `addressed → settled`. Their content is erased.
    ///
    /// - Returns: The ids that this call settled.
    @discardableResult
    public func settle(_ ids: [UUID]) async throws(PostgresError) -> Set<UUID> {
        guard !ids.isEmpty else { return [] }
        let rows = try await db.query(
            """
            UPDATE notifications SET state = 'settled', settled_at = now(), \(unescaped: Self.erased)
            WHERE id = ANY(ARRAY(
                SELECT id FROM notifications
                WHERE id = ANY(\(ids)) AND \(unescaped: Self.stateByID) = 'addressed' AND ended_deliveries >= delivery_count
                ORDER BY id FOR UPDATE))
            RETURNING id
            """)
        return Set(try rows.column("id", as: UUID.self))
    }

    /// Deletes at most `limit` notifications that were created more than `age` ago and whose deliveries are deleted; see
    /// ``DeliveryRepository/deleteOlder(than:limit:)``.
    ///
    /// - Returns: The number of deleted notifications.
    @discardableResult
    public func deleteOlder(than age: Duration, limit: Int) async throws(PostgresError) -> Int {
        try await db.execute(
            """
            DELETE FROM notifications WHERE id IN (
                SELECT id FROM notifications n WHERE created_at < now() - make_interval(secs => \(age / .seconds(1)))
                    AND NOT EXISTS (SELECT FROM deliveries d WHERE d.notification_id = n.id)
                    AND NOT EXISTS (SELECT FROM delivery_pages p WHERE p.notification_id = n.id)
                ORDER BY created_at LIMIT \(limit) FOR UPDATE SKIP LOCKED)
            """)
    }
}
