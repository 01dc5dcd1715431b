internal import FoundationEssentials
public import PostgresClient
internal import WireFormat

/// Reads and writes `delivery_pages`. Every change of state is a compare-and-set, and an end is final.
///
/// Senders and whoever ends deliveries see no pages: ``DeliveryRepository`` settles and puts off the deliveries of pages as any.
public struct DeliveryPageRepository: Sendable {
    /// After this time a page whose event has not come to a sender is taken by one that looks for what is due. A backlog in a stream
    /// may last longer, and then it does not matter which way a page goes.
    public static let eventAge = Duration.seconds(5 * 60)

    let db: any PostgresQueryable

    /// Works on a client or inside a transaction.
    public init(_ db: some PostgresQueryable) {
        self.db = db
    }

    /// Inserts pages.
    ///
    /// Whose page a member is on is the business of whoever goes through the members: a fan-out notes how far it has come in the
    /// same transaction, so that nobody is on two. An installation that passes from one member to another meanwhile may
    /// be: the push to the first is not sent any more.
    public func insert(_ pages: [NewDeliveryPage]) async throws(PostgresError) {
        for page in pages {
            let userIDs = page.addresses.compactMap(\.userID)
            guard let first = userIDs.min(), let last = userIDs.max() else { continue }
            let members = Int32(page.addresses.count)
            try await db.enqueue(
                """
                INSERT INTO delivery_pages (id, notification_id, lane, first_user_id, last_user_id, install_ids, generations,
                                            accepted, parted, due_at)
                SELECT \(page.id), \(page.notificationID), \(page.lane.rawValue), \(first), \(last),
                       \(page.addresses.map(\.id)), \(page.addresses.map(\.generation)), none, none,
                       now() + make_interval(secs => \(Self.eventAge.inSeconds))
                FROM (SELECT repeat('0', \(members))::varbit AS none) AS bits
                """)
        }
    }

    /// Deletes pages of notifications that were made more than `age` ago, at most `limit`.
    ///
    /// - Returns: How many were deleted.
    @discardableResult
    public func deleteOlder(than age: Duration, limit: Int) async throws(PostgresError) -> Int {
        try await db.execute(
            """
            DELETE FROM delivery_pages WHERE id IN (
                SELECT p.id FROM (
                    SELECT id FROM notifications WHERE created_at < now() - make_interval(secs => \(age.inSeconds))
                    ORDER BY created_at LIMIT \(limit)) n
                JOIN delivery_pages p ON p.notification_id = n.id
                LIMIT \(limit) FOR UPDATE OF p SKIP LOCKED)
            """)
    }

    /// Gives deliveries that nobody is sending rows of their own, so that whatever works on deliveries reaches them.
    ///
    /// - Parameters:
    ///   - notificationIDs: What they tell.
    ///   - installIDs: Leaves pages alone that have none of these installations, or were tried, or have not waited for
    ///     ``DeliveryRepository/supersedeAge``; nil takes all pages.
    func takeApart(notificationIDs: [UUID], touching installIDs: [UUID]? = nil) async throws(PostgresError) {
        guard !notificationIDs.isEmpty else { return }
        try await db.execute(
            """
            WITH open AS MATERIALIZED (
                SELECT * FROM delivery_pages
                WHERE notification_id = ANY(\(notificationIDs)) AND (state = 'pending' OR (state = 'sending' AND due_at <= now()))
                  AND (\(installIDs == nil) OR (
                       EXISTS (SELECT FROM unnest(install_ids) AS m (id) JOIN unnest(\(installIDs ?? [])) AS g (id) USING (id))
                       AND state = 'pending' AND attempt = 0
                       AND created_at < now() - make_interval(secs => \(DeliveryRepository.supersedeAge.inSeconds))))
                FOR UPDATE SKIP LOCKED
            ), rows AS (
                INSERT INTO deliveries AS d (id, notification_id, install_id, generation, lane, attempt, due_at, code, created_at,
                                             may_have_arrived)
                SELECT DISTINCT ON (notification_id, m.install_id)
                       \(unescaped: Self.memberID("open.id", "m.number")), notification_id, m.install_id, m.generation, lane, attempt,
                       now(), coalesce(code, 'page_split'), created_at, attempt > 0
                FROM open CROSS JOIN LATERAL unnest(install_ids, generations) WITH ORDINALITY AS m (install_id, generation, number)
                WHERE get_bit(accepted | parted, m.number::integer - 1) = 0
                ORDER BY notification_id, m.install_id, m.generation DESC
                ON CONFLICT (notification_id, install_id) DO UPDATE
                    SET id = EXCLUDED.id, generation = EXCLUDED.generation, state = EXCLUDED.state, attempt = EXCLUDED.attempt,
                        due_at = EXCLUDED.due_at, code = EXCLUDED.code, settled_at = NULL,
                        may_have_arrived = EXCLUDED.may_have_arrived
                    WHERE d.settled_at IS NOT NULL AND d.generation < EXCLUDED.generation
            )
            UPDATE delivery_pages p SET state = 'settled', parted = ~p.accepted, due_at = NULL, ended_at = now()
            FROM open WHERE p.id = open.id
            """)
    }

    /// SQL for the id of a page's delivery.
    static func memberID(_ pageID: String, _ number: String) -> String {
        "overlay(\(pageID)::text PLACING lpad(to_hex(\(number)), 4, '0') FROM 33)::uuid"
    }
}
