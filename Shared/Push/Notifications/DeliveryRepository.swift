public import FoundationEssentials
public import PostgresClient
internal import WireFormat

/// Reads and writes deliveries, on pages or with rows of their own in `deliveries`. Every change of state is a compare-and-set, and a
/// terminal state is final.
public struct DeliveryRepository: Sendable {
    let db: any PostgresQueryable

    /// Works on a client or inside a transaction.
    public init(_ db: some PostgresQueryable) {
        self.db = db
    }

    /// Settles deliveries: `pending | sending → accepted | dead | failed | expired | skipped`. Call in a transaction, because a separate
    /// statement updates the counts of their notifications.
    ///
    /// - Returns: The ids of the deliveries that this call settled; the others were settled before.
    @discardableResult
    public func settle(_ batch: [DeliverySettlement]) async throws(PostgresError) -> Set<UUID> {
        let onPages = try await DeliveryPageRepository(db).settle(batch)
        // Locks rows in the order of their ids, as every statement that changes several rows does.
        let alone = onPages.ended.count == batch.count ? [] : batch.filter { !onPages.ended.contains($0.id) }.sorted { $0.id < $1.id }
        guard !alone.isEmpty else {
            try await countEnded(onPages.counts)
            return onPages.ended
        }
        let rows = try await db.query(
            """
            UPDATE deliveries d
            SET state = outcome, fcm_name = e.fcm_name, code = e.code, attempt = greatest(d.attempt, e.attempt),
                generation = coalesce(e.generation, d.generation), due_at = NULL, settled_at = now()
            FROM unnest(\(alone.map(\.id)), \(alone.map(\.outcome.rawValue)), \(alone.map(\.fcmName)),
                        \(alone.map(\.code)), \(alone.map { Int32($0.attempt) }), \(alone.map(\.generation)))
                AS e (id, outcome, fcm_name, code, attempt, generation)
            WHERE d.id = e.id AND d.state IN ('pending', 'sending')
            RETURNING d.id, d.notification_id
            """)
        try await countEnded(Self.counts(rows).merging(onPages.counts, uniquingKeysWith: +))
        return Set(try rows.column("id", as: UUID.self)).union(onPages.ended)
    }

    /// Defers claimed deliveries: `pending | sending → pending`. Call in a transaction.
    ///
    /// - Returns: The ids of the deferred deliveries; the others are claimed by another sender, or settled.
    @discardableResult
    public func deferDeliveries(_ batch: [DeliveryDeferral]) async throws(PostgresError) -> Set<UUID> {
        let onPages = try await DeliveryPageRepository(db).deferDeliveries(batch)
        let batch = batch.filter { !onPages.contains($0.id) }.sorted { $0.id < $1.id }
        guard !batch.isEmpty else { return onPages }
        let rows = try await db.query(
            """
            UPDATE deliveries d
            SET state = 'pending', due_at = now() + make_interval(secs => delay), code = given_code,
                attempt = given_attempt - CASE WHEN counts THEN 0 ELSE 1 END,
                may_have_arrived = may_have_arrived OR arrived
            FROM unnest(\(batch.map(\.id)), \(batch.map { Int32($0.attempt) }), \(batch.map { $0.delay / .seconds(1) }),
                        \(batch.map(\.code)), \(batch.map(\.countsAsAttempt)), \(batch.map(\.mayHaveArrived)))
                AS g (given_id, given_attempt, delay, given_code, counts, arrived)
            WHERE d.id = given_id
              AND d.state = 'sending' AND d.attempt = given_attempt
            RETURNING d.id
            """)
        return Set(try rows.column("id", as: UUID.self)).union(onPages)
    }

    /// Skips deferred deliveries to installations that no longer exist: `pending → skipped`. Those on pages are skipped when their page
    /// is claimed. Call in a transaction, like ``settle(_:)``.
    ///
    /// - Parameter code: The reason, kept for the operator.
    /// - Returns: The deliveries that this call settled.
    public func withdraw(installIDs: [UUID], code: DeliveryCode) async throws(PostgresError) -> [Delivery] {
        guard !installIDs.isEmpty else { return [] }
        let rows = try await db.query(
            """
            UPDATE deliveries SET state = 'skipped', code = \(code.rawValue), due_at = NULL, settled_at = now()
            WHERE id IN (
                SELECT id FROM deliveries d
                WHERE install_id = ANY(\(installIDs)) AND state = 'pending'
                  AND NOT EXISTS (SELECT FROM push_installs p WHERE p.id = d.install_id)
                FOR UPDATE SKIP LOCKED)
            RETURNING *
            """)
        try await countEnded(Self.counts(rows))
        return try rows.map(Delivery.init(row:))
    }

    /// Returns deliveries by id; unknown ids are omitted.
    public func find(ids: [UUID]) async throws(PostgresError) -> [Delivery] {
        guard !ids.isEmpty else { return [] }
        // One statement: with two, a delivery that leaves its page in between would be found by neither.
        let query: PostgresQuery = """
            SELECT \(unescaped: Delivery.columns) FROM deliveries WHERE id = ANY(\(ids))
            UNION ALL
            SELECT \(unescaped: Delivery.columns) FROM delivery_ledger
            WHERE page_id = ANY(\(Array(Set(ids.compactMap { DeliveryPage.place(of: $0)?.pageID })))) AND id = ANY(\(ids))
            """
        return try await db.query(query.readOnly()).map(Delivery.init(row:))
    }

    /// Returns the deliveries of a notification.
    public func find(notificationID: UUID) async throws(PostgresError) -> [Delivery] {
        try await find(notificationIDs: [notificationID])
    }

    /// Returns the deliveries of notifications, oldest first.
    public func find(notificationIDs: [UUID]) async throws(PostgresError) -> [Delivery] {
        guard !notificationIDs.isEmpty else { return [] }
        let query: PostgresQuery = "SELECT * FROM delivery_ledger WHERE notification_id = ANY(\(notificationIDs)) ORDER BY created_at, id"
        let rows = try await db.query(query.readOnly())
        return try rows.map(Delivery.init(row:))
    }
}
