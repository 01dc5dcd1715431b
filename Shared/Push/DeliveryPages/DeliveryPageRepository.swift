internal import FoundationEssentials
public import PostgresClient
internal import WireFormat

/// Reads and writes `delivery_pages`. Every change of state is a compare-and-set, and the state `settled` is final.
///
/// ``DeliveryRepository`` hides pages from senders: it settles and defers the deliveries of pages like any others.
public struct DeliveryPageRepository: Sendable {
    /// The time after which a page whose event has not reached a sender is due: its event is a dead letter, or still in a backlog. In the
    /// second case it does not matter which of the two claims the page.
    public static let eventAge = Duration.seconds(5 * 60)

    let db: any PostgresQueryable

    /// Works on a client or inside a transaction.
    public init(_ db: some PostgresQueryable) {
        self.db = db
    }

    /// Inserts pages; the caller puts each installation on one page only. Pages of fan-outs are inserted by
    /// `TopicFanOutRepository.addPages`.
    public func insert(_ pages: [NewDeliveryPage]) async throws(PostgresError) {
        guard !pages.isEmpty else { return }
        let members = pages.enumerated().flatMap { index, page in page.addresses.map { (page: Int32(index + 1), address: $0) } }
        let users = pages.map(\.userRange)
        try await db.enqueue(
            """
            INSERT INTO delivery_pages (id, notification_id, lane, first_user_id, last_user_id, install_ids, generations, accepted,
                                        detached, due_at)
            SELECT p.id, notification_id, lane, first_user, last_user, m.install_ids, m.generations, none, none,
                   now() + make_interval(secs => \(Self.eventAge / .seconds(1)))
            FROM unnest(\(pages.map(\.id)), \(pages.map(\.notificationID)), \(pages.map(\.lane.rawValue)),
                        \(users.map { $0?.lowerBound }), \(users.map { $0?.upperBound }))
                WITH ORDINALITY AS p (id, notification_id, lane, first_user, last_user, place)
            JOIN (SELECT place, array_agg(install_id ORDER BY number) AS install_ids,
                         array_agg(generation ORDER BY number) AS generations, repeat('0', count(*)::integer)::varbit AS none
                  FROM unnest(\(members.map(\.page)), \(members.map(\.address.id)), \(members.map(\.address.generation)))
                      WITH ORDINALITY AS m (place, install_id, generation, number)
                  GROUP BY place) m ON m.place = p.place
            """)
    }

    /// Deletes at most `limit` pages of notifications that were created more than `age` ago.
    ///
    /// - Returns: The number of deleted pages.
    @discardableResult
    public func deleteOlder(than age: Duration, limit: Int) async throws(PostgresError) -> Int {
        try await db.execute(
            """
            DELETE FROM delivery_pages WHERE id IN (
                SELECT p.id FROM (
                    SELECT id FROM notifications WHERE created_at < now() - make_interval(secs => \(age / .seconds(1)))
                    ORDER BY created_at LIMIT \(limit)) n
                JOIN delivery_pages p ON p.notification_id = n.id
                LIMIT \(limit) FOR UPDATE OF p SKIP LOCKED)
            """)
    }

    /// Splits unclaimed pages of notifications into rows of `deliveries`, so that statements on `deliveries` reach their deliveries.
    ///
    /// - Parameters:
    ///   - notificationIDs: The notifications.
    ///   - installIDs: Splits only pages with one of these installations that were never attempted and have waited for
    ///     ``DeliveryRepository/supersedeAge``; nil splits all pages.
    func split(notificationIDs: [UUID], touching installIDs: [UUID]? = nil) async throws(PostgresError) {
        guard !notificationIDs.isEmpty else { return }
        try await db.execute(
            """
            WITH open AS MATERIALIZED (
                SELECT * FROM delivery_pages
                WHERE notification_id = ANY(\(notificationIDs)) AND (state = 'pending' OR (state = 'sending' AND due_at <= now()))
                  AND (\(installIDs == nil) OR (
                       EXISTS (SELECT FROM unnest(install_ids) AS m (id) JOIN unnest(\(installIDs ?? [])) AS g (id) USING (id))
                       AND state = 'pending' AND attempt = 0
                       AND created_at < now() - make_interval(secs => \(DeliveryRepository.supersedeAge / .seconds(1)))))
                FOR UPDATE SKIP LOCKED
            ), rows AS (
                INSERT INTO deliveries AS d (id, notification_id, install_id, generation, lane, attempt, due_at, code, created_at,
                                             may_have_arrived)
                SELECT DISTINCT ON (notification_id, m.install_id)
                       \(unescaped: Self.memberID("open.id", "m.number")), notification_id, m.install_id, m.generation, lane, attempt,
                       now(), coalesce(code, 'page_split'), created_at, attempt > 0
                FROM open CROSS JOIN LATERAL unnest(install_ids, generations) WITH ORDINALITY AS m (install_id, generation, number)
                WHERE get_bit(accepted | detached, m.number::integer - 1) = 0
                ORDER BY notification_id, m.install_id, m.generation DESC
                ON CONFLICT (notification_id, install_id) DO UPDATE
                    SET id = EXCLUDED.id, generation = EXCLUDED.generation, state = EXCLUDED.state, attempt = EXCLUDED.attempt,
                        due_at = EXCLUDED.due_at, code = EXCLUDED.code, settled_at = NULL,
                        may_have_arrived = EXCLUDED.may_have_arrived
                    WHERE d.settled_at IS NOT NULL AND d.generation < EXCLUDED.generation
            )
            UPDATE delivery_pages p SET state = 'settled', detached = ~p.accepted, due_at = NULL, ended_at = now()
            FROM open WHERE p.id = open.id
            """)
    }

    /// Makes the SQL expression for the id of a page's delivery.
    static func memberID(_ pageID: String, _ number: String) -> String {
        "overlay(\(pageID)::text PLACING lpad(to_hex(\(number)), 4, '0') FROM 33)::uuid"
    }
}
